/**
 * The state of an agent: JSON that can be stored and sent anywhere. It names the turn to continue from and shows the calls so
 * far. It decides nothing: decisions, calls and usage are read from the store.
 */
import type { ApprovalResolution } from "../invoke/approvals/decision.ts";
import type { Plan } from "../invoke/events.ts";
import { refusal } from "../runtime/options.ts";
import type { AgentMessage } from "../model/messages.ts";
import { defineField, encode } from "../util/encode.ts";

export interface AgentState {
  readonly runId: string;
  readonly status: "finished" | "waiting" | "failed";
  readonly messages: AgentMessage[];
  /** The number of the invoke, the number of its input messages, and of all its messages. */
  readonly turn: { readonly number: number; readonly began: number; readonly length: number };
  /** Every call of this agent, in order. */
  readonly toolHistory: ToolHistoryEntry[];
  /** Cached outputs that equal calls of this invoke get without running. */
  readonly toolCache: Record<string, { readonly toolName: string; readonly output: unknown }>;
  readonly toolCallCount: number;
  readonly pendingApprovals: PendingToolApproval[];
  readonly plan: Plan | null;
  readonly planVersion: number;
  readonly usage: AgentUsage;
  /** The messages left out of requests, and their summary. */
  readonly context: ContextState | null;
}

export interface ToolHistoryEntry {
  /** The handle for `get_tool_response`. */
  readonly executionId: string;
  readonly toolName: string;
  readonly args: unknown;
  readonly output: unknown;
  readonly status: "success" | "error" | "rejected" | "pending" | "unknown" | "started";
  readonly error?: string;
  readonly fromCache: boolean;
  readonly tool_call_id: string | null;
  readonly timestamp: string;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly durationMs: number | null;
}

export interface PendingToolApproval {
  readonly id: string;
  /** The tool call id of the call, or of the sub-agent call that contains it. */
  readonly toolCallId: string | undefined;
  readonly toolName: string;
  readonly args: unknown;
  readonly status: "pending" | "approved" | "rejected";
  /** `replay`: the call was interrupted. Decide with `resolution`: `"happened"`, `"run-again"` or `"give-up"`. */
  readonly kind: "call" | "replay" | "task";
  readonly prompt: string;
  readonly defaults: unknown;
  /** The possible resolutions, where `approved` is not enough. */
  readonly resolutions?: readonly ApprovalResolution[];
  readonly executionId: string;
  /** The enclosing call, such as the call of a sub-agent. */
  readonly parentExecutionId: string | undefined;
  readonly requestedAt: string;
  readonly expiresAt: string | undefined;
}

export interface AgentUsage {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly costUsd: number;
}

export interface ContextState {
  /** Results of calls before this message are sent as a summary and a handle. */
  readonly archivedUpTo: number;
  /** Messages before this one are not sent, except the task. */
  readonly droppedUpTo: number;
  /** The summary of the messages left out. */
  readonly summary: string;
}

/** The input of `invoke`: messages, the id of a run to resume, or a state. */
export type AgentInput = Partial<Omit<AgentState, "messages">> & {
  readonly messages?: readonly AgentMessage[] | undefined;
  readonly runId?: string | undefined;
};

/** The turn of a state; `undefined` for other inputs. @throws TOOL_OPTION_INVALID */
export function turnOfState({ turn, messages, runId }: AgentInput): AgentState["turn"] | undefined {
  if (turn === undefined || turn === null) return undefined;
  const { number, began, length } = turn;
  const isGood = [number, began, length].every((one) => Number.isSafeInteger(one) && one >= 0);
  if (
    !isGood ||
    number < 1 ||
    began > length ||
    length > (messages?.length ?? 0) ||
    typeof runId !== "string"
  ) {
    throw refusal("state", "is not one that invoke has returned: its turn does not fit its messages");
  }
  return { number, began, length };
}

/** For the first invoke, before the code that validates it is loaded: the run id and the messages as they are now. */
export function asGiven(input: AgentInput): AgentInput {
  const messages: unknown = input?.messages;
  if (!Array.isArray(messages)) return input?.runId === undefined ? input : { ...input };
  try {
    return { ...input, messages: messages.map(frozenCopy) as AgentMessage[] };
  } catch {
    // The validation refuses them.
    return input;
  }
}

/**
 * A copy of what a caller passes in, who may change it afterwards.
 * @throws for values that cannot be stored, or sent to a model as JSON
 */
export function frozenCopy(value: unknown): unknown {
  if (REFUSED.has(typeof value)) throw new Error(`there is a ${typeof value}`);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  if (!isPlain(value)) return copyOfOther(value);
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value))
    defineField(copy, name, frozenCopy((value as Readonly<Record<string, unknown>>)[name]));
  return Object.freeze(copy);
}

const REFUSED: ReadonlySet<string> = new Set(["function", "symbol", "bigint"]);

/** Bytes, dates and URLs in the parts of a message keep their type. */
function copyOfOther(value: object): unknown {
  if (value instanceof URL) return new URL(value);
  // Only these bytes: a clone of them has all bytes of their buffer, such as the 64 KiB that small buffers of Node.js share.
  if (value instanceof Uint8Array) return new Uint8Array(value);
  const copy = structuredClone(value);
  // The instance of a class. Its clone is plain, and could be changed.
  if (isPlain(copy)) return frozenCopy(copy);
  if (!(copy instanceof Uint8Array)) encode(copy);
  return copy;
}

export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** @throws TOOL_OPTION_INVALID */
export function checkState(state: unknown): asserts state is AgentState {
  const isOne = typeof state === "object" && state !== null && "turn" in state && "messages" in state;
  if (!isOne) throw refusal("state", "must be one that invoke has returned: the `state` of its result");
}
