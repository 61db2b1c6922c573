/**
 * Everything that a runtime emits, in one envelope. Named noun-verb; the smart agent's names are the ones that its users
 * know from elsewhere. Listeners observe: nothing depends on them. `onProgress` and `onEvent` receive parts of this
 * stream.
 */
import type { ErrorCode, OwnErrorCode } from "../errors.ts";
import type { RunKind } from "../store/run-words.ts";
import type { CallOfTask } from "../store/tables/earlier-calls.ts";
import type { ApprovalResolution } from "./approvals/decision.ts";

export type { RunKind } from "../store/run-words.ts";

/** What every event says: when it happened, in which run, and where in the run. */
export interface EventEnvelope {
  readonly at: number;
  readonly runId: string;
  readonly kind: RunKind;
  readonly nodeId?: string | undefined;
  readonly iteration?: number | undefined;
  readonly attempt?: number | undefined;
  /** The call that the event is about. */
  readonly key?: string | undefined;
  /** The call inside which it happened. */
  readonly parentKey?: string | undefined;
}

interface AboutCall extends EventEnvelope {
  readonly nodeId: string;
  readonly iteration: number;
  readonly attempt: number;
  readonly key: string;
  readonly toolName: string;
  readonly toolCallId: string | undefined;
}

type AnyCode = ErrorCode | OwnErrorCode;

export type CallEventDetails =
  | { readonly type: "call-started"; readonly seq: number }
  | {
      readonly type: "call-finished";
      readonly status: "success" | "error" | "denied" | "pending" | "unknown";
      readonly replayed: boolean;
      readonly fromCache: boolean;
      readonly errorCode: AnyCode | undefined;
    }
  | {
      readonly type: "call-retried";
      readonly tries: number;
      readonly waitMs: number;
      readonly errorCode: AnyCode;
    }
  | { readonly type: "call-late"; readonly effect: "none" | "happened" | null }
  | { readonly type: "call-rerun"; readonly reason: string }
  /** The process that ran the call has died, so it is not known whether the call had its effect. */
  | { readonly type: "call-interrupted" }
  | { readonly type: "call-progress"; readonly message: string; readonly data: unknown }
  | {
      readonly type: "call-logged";
      readonly level: "debug" | "info" | "warn" | "error";
      readonly message: string;
      readonly data: unknown;
    }
  | { readonly type: "key-unread" }
  | { readonly type: "breaker-opened" }
  | { readonly type: "approval-requested"; readonly approvalId: string };

export interface ApprovalEventDetails {
  readonly type: "approval-settled";
  readonly approvalId: string;
  readonly approved: boolean;
  /** From the request to the decision. */
  readonly waitedMs: number;
  /** The answer to a question about an interrupted call. */
  readonly resolution: ApprovalResolution | undefined;
}

export type TaskStatus = "running" | "finished" | "failed" | "skipped" | "waiting";

/** The shape of a workflow's tree. */
export type PlanOutline =
  | { readonly kind: "task"; readonly id: string }
  | {
      readonly kind: "parallel" | "loop" | "sequence";
      /** The id of a loop, if its author gave it one. */
      readonly id?: string;
      readonly children: readonly PlanOutline[];
    };

export type WorkflowEventDetails =
  | {
      readonly type: "task-changed";
      readonly nodeId: string;
      readonly iteration: number;
      readonly attempt: number;
      readonly status: TaskStatus;
    }
  /** A signal that was sent before its task waited does not match the task's schema. The task waits for another one. */
  | {
      readonly type: "signal-refused";
      readonly nodeId: string;
      readonly iteration: number;
      readonly name: string;
      readonly problem: string;
    }
  /** The tree was rendered. `outline` builds its shape when it is called. */
  | { readonly type: "plan-rendered"; readonly name: string; readonly outline: () => readonly PlanOutline[] }
  /** The run was resumed with changed code, and the tasks that made these calls are gone. */
  | { readonly type: "tasks-missing"; readonly calls: readonly CallOfTask[] }
  /** A task inside a `<Saga>` failed, and the effects of the saga were reverted. The numbers count effects. */
  | {
      readonly type: "saga-reverted";
      readonly reverted: number;
      readonly left: number;
      readonly failed: number;
      /** Reverts that wait for approval: the run waits too. */
      readonly pending: number;
    }
  /** A loop has run `maxIterations` times, and `until` is still false. */
  | {
      readonly type: "loop-limit-reached";
      readonly name: string;
      readonly maxIterations: number;
      readonly onMaxReached: "return-last" | "fail";
    };

/** A loop sends a request that differs from the recorded one; from this response on it is live. */
export interface DivergedDetails {
  readonly type: "replay-diverged";
  /** The number of the response in its loop, from 0. */
  readonly position: number;
  /** The same, from 1, for loops that count turns. */
  readonly turn?: number | undefined;
}

export interface PlanStep {
  readonly id: number | string;
  readonly title: string;
  readonly status: "not-started" | "in-progress" | "completed" | "blocked";
  readonly [name: string]: unknown;
}

/** The to-do list of a smart agent. */
export interface Plan {
  readonly version: number;
  readonly todoList: readonly PlanStep[];
}

/** What a smart agent does. */
export type AgentEventDetails =
  | {
      readonly type: "tool_call";
      /** `skipped`: the result was replayed or cached, or the call waits for approval. */
      readonly phase: "start" | "success" | "error" | "skipped";
      readonly name: string;
      readonly id: string;
      readonly args?: unknown;
      readonly result?: unknown;
      readonly error?: { readonly message: string };
      readonly executionId?: string;
    }
  | {
      readonly type: "tool_approval";
      readonly status: "pending";
      readonly id: string;
      readonly toolName: string;
      readonly toolCallId: string | undefined;
      readonly args: unknown;
    }
  | ({ readonly type: "plan"; readonly source: "manage_todo_list"; readonly operation: string } & Plan)
  | {
      readonly type: "summarization";
      /** The text that replaces the messages that were left out; `""` where results were only archived. */
      readonly summary: string;
      readonly archivedCount: number;
      readonly messagesCompressed: number;
      readonly tokenCountBefore: number;
      readonly tokenCountAfter: number;
    }
  /** A response of the model is stored. `replayed`: it was stored before, and no request was sent. */
  | {
      readonly type: "metadata";
      readonly modelName: string;
      readonly usage: {
        readonly inputTokens: number | undefined;
        readonly outputTokens: number | undefined;
        readonly cachedInputTokens: number | undefined;
      };
      readonly costUsd: number;
      readonly replayed: boolean;
    }
  /** A piece of a response that is still streaming. It counts once `metadata` has arrived. */
  | { readonly type: "stream"; readonly text: string }
  /** A limit is reached: one more response is requested, without tools. */
  | { readonly type: "budget"; readonly budget: string }
  | { readonly type: "finalAnswer"; readonly content: string; readonly output?: unknown }
  | { readonly type: "cancelled"; readonly reason: string };

/** What a loop on the Anthropic SDK does. */
export type LoopEventDetails<Message = unknown, MessageParam = unknown> =
  /** A piece of a response that is still streaming. It counts once `response-received` has arrived. */
  | { readonly type: "text-delta"; readonly turn: number; readonly text: string }
  | { readonly type: "thinking-delta"; readonly turn: number; readonly thinking: string }
  /** The pieces received so far are void: the stream broke off, or the loop was aborted. */
  | { readonly type: "response-discarded"; readonly turn: number }
  /** The response is stored. `replayed`: it was stored before, and no request was sent. */
  | {
      readonly type: "response-received";
      readonly turn: number;
      readonly message: Message;
      readonly replayed: boolean;
    }
  | {
      readonly type: "messages-steered";
      readonly turn: number;
      readonly messages: readonly MessageParam[];
      readonly replayed: boolean;
    }
  /** The oldest messages are no longer sent, so that the request fits. `left` are sent. */
  | {
      readonly type: "history-trimmed";
      readonly turn: number;
      readonly dropped: number;
      readonly left: number;
    };

/** A worker has taken the run. */
export interface ClaimEventDetails {
  readonly type: "run-claimed";
  /** How long the run was ready, and no worker took it. */
  readonly waitedMs: number;
}

/** The process that ran the run has died, and this one continues it. */
export interface TakeoverEventDetails {
  readonly type: "run-taken-over";
  /** The name of the run in lists. */
  readonly name: string;
  /** How often workers have taken it over in a row without progress, this time included. 1 without a worker. */
  readonly inARow: number;
}

/** What happens in a run, outside of its calls. */
export type RunEventDetails =
  | ApprovalEventDetails
  | ClaimEventDetails
  | TakeoverEventDetails
  | WorkflowEventDetails
  | DivergedDetails
  | AgentEventDetails
  | LoopEventDetails;

export type CallEvent = AboutCall & CallEventDetails;

export type RuntimeEvent = CallEvent | (EventEnvelope & RunEventDetails);

export type EventListener = (event: RuntimeEvent) => void;

/** Events of calls and of their approvals, which every view of a run shows alongside its own. */
export function isCallEvent(
  event: RuntimeEvent,
): event is CallEvent | (EventEnvelope & ApprovalEventDetails) {
  return /^(call|approval|key|breaker)-/.test(event.type);
}
