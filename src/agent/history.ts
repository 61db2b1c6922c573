/**
 * What was said so far. Of what is added there are two forms: as it is sent, and as it is kept, without what must not be
 * stored. The hash follows the second, so that it is the same when the loop is driven again from the record.
 */
import { fromObjectInput, withArguments } from "../definition/object-schema.ts";
import { hidesInput, storableUnparsedInput, LEFT_OUT } from "../invoke/storable.ts";
import { specOf } from "../tool/create-callable.ts";
import type { Tool } from "../tool/tool.ts";
import { parseInput } from "../util/parse-input.ts";
import type { CallResult } from "./call-results.ts";
import type { MessageMemory } from "./message-memory.ts";
import type { AgentMessage, ToolCallMessage } from "../model/messages.ts";
import type { ModelAnswer } from "../model/agent-model.ts";

export interface HistoryListener {
  /** Told of each message as it is added, in both forms. */
  onAdded(sent: AgentMessage, kept: AgentMessage): void;
}

export class History {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #secret: string;
  readonly #listener: HistoryListener;
  readonly #memory: MessageMemory;
  readonly #kept: AgentMessage[];
  readonly #began: number;
  #hash: string;

  constructor(
    began: readonly AgentMessage[],
    options: {
      tools: ReadonlyMap<string, Tool>;
      secret: string;
      hash: string;
      memory: MessageMemory;
      listener: HistoryListener;
    },
  ) {
    this.#tools = options.tools;
    this.#secret = options.secret;
    this.#listener = options.listener;
    this.#memory = options.memory;
    this.#kept = [...began];
    this.#began = began.length;
    this.#hash = options.hash;
  }

  /** All of it, as it is kept. */
  get kept(): readonly AgentMessage[] {
    return this.#kept;
  }

  get added(): AgentMessage[] {
    return this.#kept.slice(this.#began);
  }

  get hash(): string {
    return this.#hash;
  }

  say(content: string): void {
    const message: AgentMessage = { role: "user", content };
    this.#add(message, message);
  }

  answer(answer: ModelAnswer): void {
    const { text, provider } = answer;
    const calls = answer.calls.map((call) => toCallMessage(call));
    const common = {
      role: "assistant" as const,
      content: text.toWellFormed(),
      ...(provider === undefined ? {} : { provider }),
    };
    if (calls.length === 0) {
      this.#add(common, common);
      return;
    }
    const kept = calls.map((call) => this.#masked(call));
    this.#add({ ...common, tool_calls: calls }, { ...common, tool_calls: kept });
  }

  results(results: readonly CallResult[]): void {
    for (const { sent, kept } of results) this.#add(sent, kept);
  }

  #add(sent: AgentMessage, kept: AgentMessage): void {
    const own = this.#memory.keep(kept);
    this.#kept.push(own);
    this.#hash = this.#memory.hashAfter(this.#hash, own);
    this.#listener.onAdded(sent === kept ? own : sent, own);
  }

  #masked(call: ToolCallMessage): ToolCallMessage {
    const tool = this.#tools.get(call.function.name);
    const spec = tool === undefined ? undefined : specOf(tool);
    if (spec === undefined || !hidesInput(spec)) return call;
    const input = parseInput(call.function.arguments);
    // Nobody knows where in it the fields are that must not be stored.
    if (input === undefined)
      return { ...call, function: { ...call.function, arguments: JSON.stringify(LEFT_OUT) } };
    const args = fromObjectInput(spec.inputJsonSchema, input.value);
    const covered = JSON.stringify(
      withArguments(spec.inputJsonSchema, input.value, storableUnparsedInput(spec, args, this.#secret)),
    );
    return { ...call, function: { ...call.function, arguments: covered } };
  }
}

export function toCallMessage({ id, name, arguments: text }: ModelAnswer["calls"][number]): ToolCallMessage {
  return { id, type: "function", function: { name, arguments: text.toWellFormed() } };
}
