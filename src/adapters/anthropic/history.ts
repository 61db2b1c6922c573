/**
 * The messages of a loop. Added messages have two forms: as sent, and as stored, with redactions. The hash is
 * computed from the stored form, so that a replay of the loop computes the same one.
 */
import type {
  ContentBlockParam,
  Message,
  MessageParam,
  ToolResultBlockParam,
} from "@anthropic-ai/sdk/resources/messages";
import type { ToolSpec } from "../../definition/tool-spec.ts";
import { maskForKey } from "../../invoke/redact.ts";
import { hidesInput, storableUnparsedInput } from "../../invoke/storable.ts";
import { type CallResult, storedArguments } from "../../loop/call-results.ts";
import { specOf } from "../../tool/create-callable.ts";
import type { Tool } from "../../tool/tool.ts";
import { canonicalText } from "../../util/canonical.ts";
import { sha256 } from "../../util/hash.ts";

export class History {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #secret: string;
  readonly #messages: MessageParam[];
  readonly #stored: MessageParam[] = [];
  #hash: string;

  /** @param request the fields that every request of the loop has besides its messages */
  constructor(
    messages: readonly MessageParam[],
    options: { tools: ReadonlyMap<string, Tool>; secret: string; request: unknown },
  ) {
    this.#tools = options.tools;
    this.#secret = options.secret;
    this.#messages = [...messages];
    this.#hash = sha256(canonicalText([options.request, messages]));
  }

  get messages(): MessageParam[] {
    return [...this.#messages];
  }

  /** The added messages in their stored form. */
  get stored(): readonly MessageParam[] {
    return this.#stored;
  }

  /** Identifies the history up to this point. */
  get hash(): string {
    return this.#hash;
  }

  add(messages: readonly MessageParam[]): void {
    for (const message of messages) this.#add(message, message);
  }

  /** An empty answer is not added: the API would reject it. */
  addAnswer(message: Message): void {
    const content = message.content.filter((block) => block.type !== "text" || block.text.trim() !== "");
    if (content.length === 0) return;
    const sent = content.map((block) => toParam(block));
    this.#add(
      { role: "assistant", content: sent },
      { role: "assistant", content: sent.map((block) => this.#mask(block, toStoredObject)) },
      // Hashed in the form that call keys use: loops that an earlier version started still match their log.
      { role: "assistant", content: sent.map((block) => this.#mask(block, maskForKey)) },
    );
  }

  addResults(results: readonly CallResult<ToolResultBlockParam>[]): void {
    this.#add(
      { role: "user", content: results.map(({ sent }) => sent) },
      { role: "user", content: results.map(({ stored }) => stored) },
    );
  }

  #add(sent: MessageParam, stored: MessageParam, hashed = stored): void {
    this.#messages.push(sent);
    this.#stored.push(stored);
    this.#hash = sha256(`${this.#hash} ${canonicalText(hashed)}`);
  }

  #mask(block: ContentBlockParam, hide: typeof maskForKey): ContentBlockParam {
    const tool = block.type === "tool_use" ? this.#tools.get(block.name) : undefined;
    if (tool === undefined || block.type !== "tool_use") return block;
    const spec = specOf(tool);
    if (!hidesInput(spec)) return block;
    return { ...block, input: storedArguments(spec, block.input, this.#secret, hide) };
  }
}

/** The API accepts only objects as inputs. */
function toStoredObject(spec: ToolSpec, args: unknown, secret: string): unknown {
  const stored = storableUnparsedInput(spec, args, secret);
  return typeof stored === "object" && stored !== null && !Array.isArray(stored) ? stored : { input: stored };
}

/** The API accepts its own blocks in a request, except inputs that are not objects. */
function toParam(block: Message["content"][number]): ContentBlockParam {
  if (block.type !== "tool_use") return block;
  const { input } = block;
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  return isObject ? block : { ...block, input: {} };
}
