/**
 * The messages so far. An added message has two forms: as sent, and as stored, without values that must not be stored. The
 * hash covers the stored form, so that a resumed loop computes the same hash.
 */
import { hidesInput, LEFT_OUT } from "../invoke/storable.ts";
import { type CallResult, storedArguments } from "../loop/call-results.ts";
import { specOf } from "../tool/create-callable.ts";
import type { Tool } from "../tool/tool.ts";
import { parseInput } from "../tool/parse-input.ts";
import type { MessageMemory } from "./message-memory.ts";
import type { AgentMessage, ToolCallMessage } from "../model/messages.ts";
import type { ModelAnswer } from "../model/agent-model.ts";

export interface HistoryListener {
  /** Called with each added message, in both forms. */
  onAdded(sent: AgentMessage, stored: AgentMessage): void;
}

export class History {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #secret: string;
  readonly #listener: HistoryListener;
  readonly #memory: MessageMemory;
  readonly #stored: AgentMessage[];
  readonly #inputLength: number;
  #hash: string;

  constructor(
    messages: readonly AgentMessage[],
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
    this.#stored = [...messages];
    this.#inputLength = messages.length;
    this.#hash = options.hash;
  }

  /** All messages, as stored. */
  get stored(): readonly AgentMessage[] {
    return this.#stored;
  }

  get added(): AgentMessage[] {
    return this.#stored.slice(this.#inputLength);
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
    const masked = calls.map((call) => this.#masked(call));
    const sent = { ...common, tool_calls: calls };
    // Nothing is hidden: one message, which the next invoke need not measure and convert again.
    const isSame = masked.every((call, index) => call === calls[index]);
    this.#add(sent, isSame ? sent : { ...common, tool_calls: masked });
  }

  results(results: readonly CallResult<AgentMessage>[]): void {
    for (const { sent, stored } of results) this.#add(sent, stored);
  }

  #add(sent: AgentMessage, stored: AgentMessage): void {
    const own = this.#memory.keep(stored);
    this.#stored.push(own);
    this.#hash = this.#memory.hashAfter(this.#hash, own);
    this.#listener.onAdded(sent === stored ? own : sent, own);
  }

  #masked(call: ToolCallMessage): ToolCallMessage {
    const tool = this.#tools.get(call.function.name);
    const spec = tool === undefined ? undefined : specOf(tool);
    if (spec === undefined || !hidesInput(spec)) return call;
    const input = parseInput(call.function.arguments);
    // In text that is not JSON, the fields that must not be stored cannot be found.
    if (input === undefined)
      return { ...call, function: { ...call.function, arguments: JSON.stringify(LEFT_OUT) } };
    const stored = JSON.stringify(storedArguments(spec, input.value, this.#secret));
    return { ...call, function: { ...call.function, arguments: stored } };
  }
}

export function toCallMessage({ id, name, arguments: text }: ModelAnswer["calls"][number]): ToolCallMessage {
  return { id, type: "function", function: { name, arguments: text.toWellFormed() } };
}
