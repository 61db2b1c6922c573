/**
 * What was said in a loop so far. Of what is added there are two forms: as it is sent, and as it is kept, without what must
 * not be stored. The hash follows the second, so that it is the same when the loop is driven again from the record.
 */
import type { ContentBlockParam, Message, MessageParam } from "@anthropic-ai/sdk/resources/messages";
import { fromObjectInput, withArguments } from "../../definition/object-schema.ts";
import type { ToolSpec } from "../../definition/tool-spec.ts";
import { maskForKey } from "../../invoke/redact.ts";
import { hidesInput, storableUnparsedInput } from "../../invoke/storable.ts";
import { specOf } from "../../tool/create-callable.ts";
import type { Tool } from "../../tool/tool.ts";
import { canonicalText } from "../../util/canonical.ts";
import { sha256 } from "../../util/hash.ts";
import type { CallResult } from "./tool-result.ts";

export class History {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #secret: string;
  readonly #messages: MessageParam[];
  readonly #kept: MessageParam[] = [];
  #hash: string;

  /** @param request what every request of the loop has beside its messages */
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

  /** What was added, as it is kept. */
  get kept(): readonly MessageParam[] {
    return this.#kept;
  }

  /** Tells what was said up to here from everything else that could have been. */
  get hash(): string {
    return this.#hash;
  }

  say(messages: readonly MessageParam[]): void {
    for (const message of messages) this.#add(message, message);
  }

  /** Nothing is added for an answer that says nothing: it could not be sent. */
  answer(message: Message): void {
    const content = message.content.filter((block) => block.type !== "text" || block.text.trim() !== "");
    if (content.length === 0) return;
    const sent = content.map((block) => toParam(block));
    this.#add(
      { role: "assistant", content: sent },
      { role: "assistant", content: sent.map((block) => this.#with(block, keptObject)) },
      // By the key's own form: what a loop that an earlier version began was told is found again.
      { role: "assistant", content: sent.map((block) => this.#with(block, maskForKey)) },
    );
  }

  results(results: readonly CallResult[]): void {
    this.#add(
      { role: "user", content: results.map(({ block }) => block) },
      { role: "user", content: results.map(({ stored }) => stored) },
    );
  }

  #add(sent: MessageParam, kept: MessageParam, hashed = kept): void {
    this.#messages.push(sent);
    this.#kept.push(kept);
    this.#hash = sha256(`${this.#hash} ${canonicalText(hashed)}`);
  }

  #with(block: ContentBlockParam, hide: typeof maskForKey): ContentBlockParam {
    const tool = block.type === "tool_use" ? this.#tools.get(block.name) : undefined;
    if (tool === undefined || block.type !== "tool_use") return block;
    const spec = specOf(tool);
    if (!hidesInput(spec)) return block;
    const args = hide(spec, fromObjectInput(spec.inputJsonSchema, block.input), this.#secret);
    return { ...block, input: withArguments(spec.inputJsonSchema, block.input, args) };
  }
}

/** The API takes inputs back only as objects. */
function keptObject(spec: ToolSpec, args: unknown, secret: string): unknown {
  const kept = storableUnparsedInput(spec, args, secret);
  return typeof kept === "object" && kept !== null && !Array.isArray(kept) ? kept : { input: kept };
}

/** The API takes back what it sent, but for inputs of calls that are no objects. */
function toParam(block: Message["content"][number]): ContentBlockParam {
  if (block.type !== "tool_use") return block;
  const { input } = block;
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  return isObject ? block : { ...block, input: {} };
}
