/**
 * Where a graph makes a call. A task of LangGraph that stopped inside a tool runs again from its start: the calls that it
 * makes then are the same calls, and each `interrupt` has to be given its own answer.
 */
import { AIMessage, BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { ToolRunnableConfig } from "@langchain/core/tools";
import type { CallOptions } from "../../invoke/call.ts";
import { placeInHistory } from "../../tool/message-history.ts";
import { loadGraphs } from "./graph-objects.ts";

/** What LangGraph hands to a tool beside LangChain's own configuration. */
export type LoopConfig = ToolRunnableConfig & { readonly toolCallId?: string; readonly state?: unknown };

/** What LangGraph keeps for a task while it runs. Answers are given to `interrupt` in the order of its calls. */
interface Scratchpad {
  interruptCounter: number;
  readonly resume: readonly unknown[];
  readonly nullResume?: unknown;
  readonly currentTaskInput?: unknown;
}

type Place = Pick<CallOptions, "site" | "batch" | "history">;

export interface ModelCall {
  readonly name: string;
  readonly args: unknown;
  readonly id: string | undefined;
}

/** @param twin how many calls with this id the same pass of the task has in flight: models use an id more than once */
export function placeOf(config: LoopConfig, call: ModelCall, twin: number): Place {
  const messages = messagesIn(config.state) ?? messagesIn(scratchpadIn(config)?.currentTaskInput);
  const history =
    messages &&
    placeInHistory(
      { toolName: call.name, args: call.args, toolCallId: call.id },
      messages.flatMap(toHistory),
    );
  const task: unknown = config.configurable?.["checkpoint_ns"];
  const isInTask = typeof task === "string" && task !== "" && call.id !== undefined;
  return {
    // The graph's state holds the call also when it is made for the first time, so that says nothing.
    history: history && { ...history, isResumed: false },
    // The id of a task is derived from the checkpoint before it: another step, fork or thread has another one.
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

/** In the shape of the AI SDK's messages, which are read in the same way. */
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

/** A call that was answered as waiting has not ended: the next equal one is the same call. */
function isWaiting(id: string | undefined, messages: readonly BaseMessage[]): boolean {
  const answer = messages.findLast(
    (message): message is ToolMessage => ToolMessage.isInstance(message) && message.tool_call_id === id,
  );
  return answer?.status === "error" && answer.additional_kwargs[WAITING] === true;
}

/** Set in the message that tells the model that a call waits for approval. */
export const WAITING = "toolwright_approval_pending";

function scratchpadIn({ configurable }: LoopConfig): Scratchpad | undefined {
  const found: unknown = configurable?.["__pregel_scratchpad"];
  const isScratchpad =
    typeof found === "object" && found !== null && "interruptCounter" in found && "resume" in found;
  return isScratchpad ? (found as Scratchpad) : undefined;
}

/** How often a call was answered by `interrupt`, and how a replay of it leaves these answers alone. */
export class Interrupts {
  readonly #scratchpad: Scratchpad | undefined;
  /** The configuration under which the tool has to run, so that its interrupts are counted. */
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
   * Stored with the call: how many answers are its own when it is not run again beside others of its task, or how many were
   * given before its tool ran, when it is.
   */
  mark(state: "ended" | "suspended"): string | undefined {
    const count = state === "ended" ? this.count : this.#beforeTool;
    return count === 0 ? undefined : `${MARK}${count}`;
  }

  /** @param mark of another kind, such as the request of an inner call, has no answers to leave alone */
  skip(mark: string): void {
    const count = mark.startsWith(MARK) ? Number(mark.slice(MARK.length)) : 0;
    if (this.#scratchpad === undefined || count === 0) return;
    this.#scratchpad.interruptCounter += count;
    this.count += count;
    this.#beforeTool = count;
  }

  /** The tool has asked nothing yet: answers that are there were given to `onPending`, and not meant for the tool. */
  async leaveEarlierAnswers(): Promise<void> {
    const scratchpad = this.#scratchpad;
    if (scratchpad === undefined || !hasAnswer(scratchpad)) return;
    const { interrupt } = await loadGraphs();
    while (isStored(scratchpad)) interrupt(undefined);
    if (scratchpad.nullResume !== undefined) interrupt(undefined);
    this.#beforeTool = this.count;
  }

  /** Runs `work` with the number of this call among those of the pass that have the same id and are in flight. */
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
   * While a task is given answers, its calls follow each other: the order in which they ask must be the same each time,
   * or a tool would be given the answer that was meant for another.
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

/** Whether the next `interrupt` of the task returns at once. */
function hasAnswer(scratchpad: Scratchpad): boolean {
  return isStored(scratchpad) || scratchpad.nullResume !== undefined;
}

/** It was given in an earlier pass. */
function isStored({ interruptCounter, resume }: Scratchpad): boolean {
  return interruptCounter + 1 < resume.length;
}

const MARK = "interrupts:";
const queues = new WeakMap<object, Promise<unknown>>();
const inFlight = new WeakMap<object, Set<string>>();
