/**
 * Identifies a call within a graph. A LangGraph task that stopped inside a tool runs again from its start: its calls
 * must map to the logged ones, and each `interrupt` must receive its own answer.
 */
import { AIMessage, BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { ToolRunnableConfig } from "@langchain/core/tools";
import type { CallOptions } from "../../invoke/call.ts";
import { findCallInMessages } from "../../tool/find-call-in-messages.ts";
import { loadGraphs } from "./graph-objects.ts";

/** LangChain's configuration with the fields that LangGraph adds. */
export type LoopConfig = ToolRunnableConfig & { readonly toolCallId?: string; readonly state?: unknown };

/** LangGraph's state of a running task. `interrupt` receives the answers in the order of its calls. */
interface Scratchpad {
  interruptCounter: number;
  readonly resume: readonly unknown[];
  readonly nullResume?: unknown;
  readonly currentTaskInput?: unknown;
}

type CallPosition = Pick<CallOptions, "site" | "batch" | "history">;

export interface ModelCall {
  readonly name: string;
  readonly args: unknown;
  readonly id: string | undefined;
}

/** @param twin the number of calls with the same id in flight in this pass of the task: models reuse ids */
export function callPosition(config: LoopConfig, call: ModelCall, twin: number): CallPosition {
  const messages = messagesIn(config.state) ?? messagesIn(scratchpadIn(config)?.currentTaskInput);
  const history =
    messages &&
    findCallInMessages(
      { toolName: call.name, args: call.args, toolCallId: call.id },
      messages.flatMap(toHistory),
    );
  const task: unknown = config.configurable?.["checkpoint_ns"];
  const isInTask = typeof task === "string" && task !== "" && call.id !== undefined;
  return {
    // The graph's state contains the call even when it is new, so its presence does not mean a resume.
    history: history && { ...history, isResumed: false },
    // LangGraph derives the id of a task from the checkpoint before it, so each step, fork and thread has its own.
    ...(isInTask ? { site: `${task} ${call.id} ${twin}`, batch: batchIn(messages) } : {}),
  };
}

function batchIn(messages: readonly BaseMessage[] | undefined): string | undefined {
  return messages?.findLast((message) => AIMessage.isInstance(message))?.id;
}

function messagesIn(state: unknown): readonly BaseMessage[] | undefined {
  const found: unknown =
    typeof state === "object" && state !== null && "messages" in state ? state.messages : state;
  return Array.isArray(found) && found.every((message) => BaseMessage.isInstance(message)) && found.length > 0
    ? found
    : undefined;
}

/** Converts a message to the AI SDK's shape, which `findCallInMessages` reads. */
function toHistory(message: BaseMessage, _index: number, all: readonly BaseMessage[]): object[] {
  if (message.type === "human") return [{ role: "user" }];
  if (AIMessage.isInstance(message)) {
    const calls = (message.tool_calls ?? []).filter(({ id }) => !isWaiting(id, all));
    const content = calls.map(({ id, name, args }) => ({
      type: "tool-call",
      toolCallId: id,
      toolName: name,
      input: args,
    }));
    return [{ role: "assistant", content }];
  }
  if (!ToolMessage.isInstance(message)) return [];
  return [{ role: "tool", content: [{ type: "tool-result", toolCallId: message.tool_call_id }] }];
}

/** A call that was answered with "waits for approval" has not ended: the next equal call continues it. */
function isWaiting(id: string | undefined, messages: readonly BaseMessage[]): boolean {
  const answer = messages.findLast(
    (message): message is ToolMessage => ToolMessage.isInstance(message) && message.tool_call_id === id,
  );
  return answer?.status === "error" && answer.additional_kwargs[WAITING] === true;
}

/** Set on the message that reports a pending approval to the model. */
export const WAITING = "toolwright_approval_pending";

function scratchpadIn({ configurable }: LoopConfig): Scratchpad | undefined {
  const found: unknown = configurable?.["__pregel_scratchpad"];
  const isScratchpad =
    typeof found === "object" && found !== null && "interruptCounter" in found && "resume" in found;
  return isScratchpad ? (found as Scratchpad) : undefined;
}

/** Counts the answers that a call received from `interrupt`, so that a replay can skip them. */
export class Interrupts {
  readonly #scratchpad: Scratchpad | undefined;
  /** The tool must run with this configuration for its interrupts to be counted. */
  readonly config: LoopConfig;
  count = 0;
  #beforeTool = 0;

  constructor(config: LoopConfig) {
    const scratchpad = scratchpadIn(config);
    this.#scratchpad = scratchpad;
    if (scratchpad === undefined) {
      this.config = config;
      return;
    }
    const counted = new Proxy(scratchpad, {
      get: (target, name): unknown => Reflect.get(target, name),
      set: (target, name, value) => {
        if (name === "interruptCounter") this.count += 1;
        return Reflect.set(target, name, value);
      },
    });
    this.config = { ...config, configurable: { ...config.configurable, __pregel_scratchpad: counted } };
  }

  /**
   * Stored with the call. Ended: the number of its answers, which a replay skips. Suspended: the number of answers
   * that were given before its tool ran.
   */
  mark(state: "ended" | "suspended"): string | undefined {
    const count = state === "ended" ? this.count : this.#beforeTool;
    return count === 0 ? undefined : `${MARK}${count}`;
  }

  /** @param mark a mark of another kind, such as the request of an inner call, has no answers to skip */
  skip(mark: string): void {
    const count = mark.startsWith(MARK) ? Number(mark.slice(MARK.length)) : 0;
    if (this.#scratchpad === undefined || count === 0) return;
    this.#scratchpad.interruptCounter += count;
    this.count += count;
    this.#beforeTool = count;
  }

  /** Skips the answers to interrupts of `onPending`, which are not meant for the tool. Call it before the tool runs. */
  async skipEarlierAnswers(): Promise<void> {
    const scratchpad = this.#scratchpad;
    if (scratchpad === undefined || !hasAnswer(scratchpad)) return;
    const { interrupt } = await loadGraphs();
    while (isStored(scratchpad)) interrupt(undefined);
    if (scratchpad.nullResume !== undefined) interrupt(undefined);
    this.#beforeTool = this.count;
  }

  /** Runs `work` with the index of this call among those with the same id that are in flight. */
  async amongTwins<T>(id: string | undefined, work: (twin: number) => Promise<T>): Promise<T> {
    const ids = this.#scratchpad && (inFlight.get(this.#scratchpad) ?? new Set<string>());
    if (this.#scratchpad === undefined || ids === undefined) return work(0);
    inFlight.set(this.#scratchpad, ids);
    let twin = 0;
    while (ids.has(`${id} ${twin}`)) twin += 1;
    const name = `${id} ${twin}`;
    ids.add(name);
    try {
      return await work(twin);
    } finally {
      ids.delete(name);
    }
  }

  /**
   * Runs the calls of a task that receives answers one after the other. The order of their interrupts must be the
   * same each time, or a tool would receive the answer meant for another.
   */
  async inOrder<T>(work: () => Promise<T>): Promise<T> {
    const scratchpad = this.#scratchpad;
    const isAnswered =
      scratchpad !== undefined && (scratchpad.resume.length > 0 || scratchpad.nullResume !== undefined);
    if (!isAnswered) return work();
    const before = queues.get(scratchpad) ?? Promise.resolve();
    const mine = before.then(work);
    queues.set(
      scratchpad,
      mine.catch(() => undefined),
    );
    return mine;
  }
}

/** Whether the next `interrupt` of the task returns without stopping. */
function hasAnswer(scratchpad: Scratchpad): boolean {
  return isStored(scratchpad) || scratchpad.nullResume !== undefined;
}

/** Whether the next answer was given in an earlier pass. */
function isStored({ interruptCounter, resume }: Scratchpad): boolean {
  return interruptCounter + 1 < resume.length;
}

const MARK = "interrupts:";
const queues = new WeakMap<object, Promise<unknown>>();
const inFlight = new WeakMap<object, Set<string>>();
