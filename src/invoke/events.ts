/** What a runtime tells its listeners. Named noun-verb. For people and programs that watch; nothing depends on them. */
import type { ErrorCode, OwnErrorCode } from "../errors.ts";
import type { ApprovalResolution } from "./approvals/decision.ts";

interface CallEvent {
  readonly runId: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly attempt: number;
  readonly toolName: string;
  readonly toolCallId: string | undefined;
  readonly key: string;
  readonly at: number;
}

export type RuntimeEvent =
  | (CallEvent & { readonly type: "call-started"; readonly seq: number })
  | (CallEvent & {
      readonly type: "call-finished";
      readonly status: "success" | "error" | "denied" | "pending" | "unknown";
      readonly replayed: boolean;
      readonly fromCache: boolean;
      readonly errorCode: ErrorCode | OwnErrorCode | undefined;
    })
  | (CallEvent & {
      readonly type: "call-retried";
      readonly tries: number;
      readonly waitMs: number;
      readonly errorCode: ErrorCode | OwnErrorCode;
    })
  | (CallEvent & { readonly type: "call-late"; readonly effect: "none" | "happened" | null })
  | (CallEvent & { readonly type: "call-rerun"; readonly reason: string })
  | (CallEvent & { readonly type: "call-progress"; readonly message: string; readonly data: unknown })
  | (CallEvent & {
      readonly type: "call-logged";
      readonly level: "debug" | "info" | "warn" | "error";
      readonly message: string;
      readonly data: unknown;
    })
  | (CallEvent & { readonly type: "key-unread" })
  | (CallEvent & { readonly type: "breaker-opened" })
  | (CallEvent & { readonly type: "approval-requested"; readonly approvalId: string })
  | {
      readonly type: "approval-settled";
      readonly approvalId: string;
      readonly runId: string;
      readonly approved: boolean;
      /** The answer to a question about an interrupted call. */
      readonly resolution: ApprovalResolution | undefined;
      readonly at: number;
    };

export type EventListener = (event: RuntimeEvent) => void;

/** An event about a call without what every such event has. */
export type CallNews = RuntimeEvent extends infer Event
  ? Event extends CallEvent
    ? Omit<Event, keyof CallEvent>
    : never
  : never;
