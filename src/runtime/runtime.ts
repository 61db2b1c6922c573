/// <reference lib="esnext.disposable" preserve="true" />
/** What a runtime is to those who use it. */
import type { ToolSettings } from "../definition/context.ts";
import type { Approval } from "../invoke/approval.ts";
import type { EventListener } from "../invoke/events.ts";
import type { Limits } from "../invoke/host.ts";
import type { Outcome } from "../invoke/outcome.ts";
import type { ApprovalFilter } from "../store/tables/approvals.ts";
import type { ToolLike } from "../tool/from-tool.ts";
import type { TOOL_SPEC, TypedTool } from "../tool/tool.ts";
import type { ApprovalDecision } from "./approvals.ts";
import type { GcOptions, GcReport } from "./collect-garbage.ts";
import type { CallFilter, LoggedCall } from "../store/tables/call-log.ts";

export interface TaskIdentity {
  readonly runId: string;
  /** Default `"main"`. */
  readonly nodeId?: string | undefined;
  /** From 0. */
  readonly iteration?: number | undefined;
  /** The full path of loop indices, where loops are nested. Default: the iteration alone. */
  readonly loopPath?: readonly number[] | undefined;
  /** From 1; never restarts. */
  readonly attempt?: number | undefined;
}

export interface RunScopeOptions extends TaskIdentity {
  /**
   * Which turn of a chat this is, from 1: equal calls of two turns are two calls. Default: the number of user messages,
   * in loops that pass their messages to tools (the AI SDK, LangGraph). For other loops, and for trimmed histories.
   */
  readonly turn?: number | undefined;
  readonly limits?: Limits | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Settings of the tools called inside, where they differ from the runtime's. */
  readonly settings?: Partial<ToolSettings> | undefined;
}

export interface RuntimeCallOptions extends Partial<TaskIdentity> {
  /** Takes the place of the count among equal calls: for webhooks that are delivered twice, and several servers. */
  readonly callKey?: string | undefined;
  readonly toolCallId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A tool of another maker. The second form is for objects that are written in place. */
type ForeignTool =
  | (ToolLike & { readonly [TOOL_SPEC]?: never })
  | { readonly [TOOL_SPEC]?: never; readonly [name: string]: unknown };

export interface Runtime extends AsyncDisposable {
  /**
   * Calls a tool, which is logged. One signature, so that a mistake is reported at the argument. The arguments of tools
   * of other makers are `unknown`: they are checked when the tool is called.
   */
  call<Args = unknown, Output = unknown>(
    tool: TypedTool<Args, Output> | ForeignTool,
    args: NoInfer<Args>,
    options?: RuntimeCallOptions,
  ): Promise<Outcome<Output>>;
  /** Tools called inside `work` are on record under these ids. Equal calls are counted anew in each `run`. */
  run<T>(task: RunScopeOptions, work: () => T | PromiseLike<T>): Promise<T>;
  approvals(filter?: ApprovalFilter): Promise<Approval[]>;
  resolveToolApproval(id: string, decision: ApprovalDecision): Promise<Approval>;
  calls(filter?: CallFilter): Promise<LoggedCall[]>;
  /** What the log shows truncated. */
  fullOutput(key: string): Promise<unknown>;
  /** What a retried agent has to know: the non-idempotent calls of earlier attempts. `""` when there are none. */
  retryWarning(task: TaskIdentity): Promise<string>;
  /** Deletes what is old: runs that have ended, and what stopped ones would go on with. Never what is unfinished. */
  gc(options?: GcOptions): Promise<GcReport>;
  /** Returns how to stop listening. Listeners that throw harm nobody. */
  subscribe(listener: EventListener): () => void;
  /** Opens the store now, to learn at once that it cannot be opened. */
  ready(): Promise<void>;
  /**
   * Waits for the calls that have begun, then closes the store. The same as `[Symbol.asyncDispose]()`, for programs
   * without `await using`. Closing twice is harmless.
   */
  close(): Promise<void>;
}
