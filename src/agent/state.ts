/**
 * The state of an agent: JSON, to be kept anywhere and sent anywhere. It says where to go on and shows what was done. It
 * decides nothing: what a person decided, what was run and what is spent stand in the store.
 */
import type { ApprovalResolution } from "../invoke/approvals/decision.ts";
import type { Plan } from "../invoke/events.ts";
import { refusal } from "../runtime/options.ts";
import type { AgentMessage } from "../model/messages.ts";

export interface AgentState {
  readonly runId: string;
  readonly status: "finished" | "waiting" | "failed";
  readonly messages: AgentMessage[];
  /** Which invoke this is the state of, how many messages it began with, and how many it has. */
  readonly turn: { readonly number: number; readonly began: number; readonly length: number };
  /** Every call that this agent made, in order. */
  readonly toolHistory: ToolHistoryEntry[];
  /** Answers that equal calls of this invoke get without running. */
  readonly toolCache: Record<string, { readonly toolName: string; readonly output: unknown }>;
  readonly toolCallCount: number;
  readonly pendingApprovals: PendingToolApproval[];
  readonly plan: Plan | null;
  readonly planVersion: number;
  readonly usage: AgentUsage;
  /** What is left out of requests, and what stands in its place. */
  readonly context: ContextState | null;
}

export interface ToolHistoryEntry {
  /** What `get_tool_response` finds it by. */
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
  /** The model's id of the call, or of the sub-agent's call that it is made inside of. */
  readonly toolCallId: string | undefined;
  readonly toolName: string;
  readonly args: unknown;
  readonly status: "pending" | "approved" | "rejected";
  /** `replay`: it was interrupted. `resolution` answers it: `"happened"`, `"run-again"` or `"give-up"`. */
  readonly kind: "call" | "replay" | "task";
  readonly prompt: string;
  readonly defaults: unknown;
  /** The answers by name, where a yes or no is none. */
  readonly resolutions?: readonly ApprovalResolution[];
  readonly executionId: string;
  /** The call that it is made inside of, such as a sub-agent's. */
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
  /** Messages before this one are not sent at all, but for the task. */
  readonly droppedUpTo: number;
  /** Of those. */
  readonly summary: string;
}

/** What `invoke` takes: something to begin with, a run to go on with, or a state. */
export type AgentInput = Partial<Omit<AgentState, "messages">> & {
  readonly messages?: readonly AgentMessage[] | undefined;
  readonly runId?: string | undefined;
};

/** Where a state stands, if it is one. @throws TOOL_OPTION_INVALID */
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

/** What came in, as it is now: its giver may go on with it before it is looked at. Those that cannot change stay. */
export function asGiven(input: AgentInput): AgentInput {
  const messages: unknown = input?.messages;
  if (!Array.isArray(messages)) return input;
  const taken = (messages as AgentMessage[]).map((message) =>
    typeof message !== "object" || Object.isFrozen(message) ? message : { ...message },
  );
  return { ...input, messages: taken };
}

/** @throws TOOL_OPTION_INVALID */
export function checkState(state: unknown): asserts state is AgentState {
  const isOne = typeof state === "object" && state !== null && "turn" in state && "messages" in state;
  if (!isOne) throw refusal("state", "must be one that invoke has returned: the `state` of its result");
}
