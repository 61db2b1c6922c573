/// <reference lib="esnext.disposable" preserve="true" />
/** The public interface of a runtime. */
import type { ToolSettings } from "../definition/tool-settings.ts";
import type { Approval } from "../invoke/approval.ts";
import type { EventListener } from "../invoke/events.ts";
import type { Limits } from "../invoke/host.ts";
import type { Outcome } from "../invoke/outcome.ts";
import type { ApprovalFilter } from "../store/tables/approvals.ts";
import type { ToolLike } from "../tool/from-tool.ts";
import type { TOOL_SPEC, TypedTool } from "../tool/tool.ts";
import type { ApprovalDecision } from "./approvals.ts";
import type { GcOptions, GcReport } from "./collect-garbage.ts";
import type { Schedules } from "./schedules.ts";
import type { SentSignal, SignalOptions } from "./signals.ts";
import type { RunDescription, RunExplanation, RunFilter, RunPage } from "./runs.ts";
import type { RunKind } from "../store/run-words.ts";
import type { Labels } from "../store/tables/runs.ts";
import type { CallFilter, LoggedCall } from "../store/tables/call-log.ts";
import type { RevertReport } from "./revert/revert-report.ts";
import type { StreamPart } from "../stream/stream-part.ts";

export interface TaskIdentity {
  readonly runId: string;
  /** Default `"main"`. */
  readonly nodeId?: string | undefined;
  /** From 0. */
  readonly iteration?: number | undefined;
  /** The indexes of nested loops, outermost first. Default: the iteration alone. */
  readonly loopPath?: readonly number[] | undefined;
  /** From 1; never restarts. */
  readonly attempt?: number | undefined;
}

export interface RunScopeOptions extends TaskIdentity {
  /**
   * The turn of the chat, from 1: equal calls in two turns are two calls. Default: the number of user messages, in loops that
   * pass their messages to tools (the AI SDK, LangGraph). Set it for other loops, and for trimmed histories.
   */
  readonly turn?: number | undefined;
  readonly limits?: Limits | undefined;
  /** Shown in lists of runs. A worker with a program of this name resumes the run. Default: the task's id. */
  readonly name?: string | undefined;
  /** For the worker that resumes the run: stored until the run has finished. */
  readonly input?: unknown;
  /** For filters of `runtime.runs`. Those of the first task of a run count. */
  readonly labels?: Labels | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Settings for the tools called inside, which override the runtime's. */
  readonly settings?: Partial<ToolSettings> | undefined;
}

export interface RuntimeCallOptions extends Partial<TaskIdentity> {
  /** Replaces the index among equal calls: for webhooks that are delivered twice, and for several servers. */
  readonly callKey?: string | undefined;
  readonly toolCallId?: string | undefined;
  /** For filters of `runtime.runs`, if the call starts a run. */
  readonly labels?: Labels | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface EnqueueOptions {
  readonly input?: unknown;
  /** Default: a new one. The same id with the same name and input is the same run. */
  readonly runId?: string | undefined;
  /** Not before this time: a `Date`, or milliseconds since 1970. */
  readonly startAt?: Date | number | undefined;
  /** Larger ones first; equal ones in the order of enqueueing. Default 0. */
  readonly priority?: number | undefined;
  /** For filters of `runtime.runs`. */
  readonly labels?: Labels | undefined;
  /** Default: what a worker runs under this name, else `"workflow"`. */
  readonly kind?: "workflow" | "agent" | "program" | undefined;
}

export interface EnqueuedRun {
  readonly runId: string;
}

export interface StreamOptions {
  /** The index of the first part, inclusive. Default: 0. */
  readonly from?: number | undefined;
  /** Ends the stream, and nothing else. */
  readonly signal?: AbortSignal | undefined;
}

export interface RevertOptions {
  readonly runId: string;
  /** Only the effects of this task and of those after it: its id, or `id[pass]`. Default: all. */
  readonly from?: string | undefined;
  /** Reports what would happen, and changes nothing. */
  readonly dryRun?: boolean | undefined;
}

export interface ForkOptions {
  readonly runId: string;
  /**
   * The first task or call that runs in the fork: the id of a task, `id[pass]`, or the key of a call. Default: with `input`, from
   * the start; else where the run stopped.
   */
  readonly at?: string | undefined;
  /** Replaces the input of the run. */
  readonly input?: unknown;
  /** Replaces outputs of tasks before the cut, by task id. */
  readonly outputs?: Readonly<Record<string, unknown>> | undefined;
  /**
   * What an equal non-idempotent effect of the parent means after the cut. `"ask"` (default): the call waits for approval.
   * `"reuse"`: it returns the parent's result. `"run"`: it runs. An effect in doubt always needs an answer.
   */
  readonly effects?: "ask" | "reuse" | "run" | undefined;
  /** Reports what would be copied, and creates no run. */
  readonly dryRun?: boolean | undefined;
}

export interface ForkedRun {
  /** The run id of the fork. */
  readonly runId: string;
  readonly parentId: string;
  readonly at: string | null;
  readonly effects: "ask" | "reuse" | "run";
  /** Tasks and calls that were copied: they do not run again. */
  readonly copied: { readonly tasks: number; readonly calls: number };
  /** Tasks of the parent that run again, as far as they are known. */
  readonly rerun: readonly string[];
  /** Tasks that are copied although the parent has reverted one of their effects. */
  readonly reverted: readonly string[];
  readonly dryRun: boolean;
}

/** Set by the adapters that make single calls. A registered symbol: another copy of the package reads it too. */
export const RUN_AS: unique symbol = Symbol.for("toolwright.runtime.run as");

/** How a run is listed that an adapter starts. */
export interface RunAs {
  readonly kind: RunKind;
  readonly name: string;
}

/** A tool of another SDK. The second form is for object literals. */
type ForeignTool =
  | (ToolLike & { readonly [TOOL_SPEC]?: never })
  | { readonly [TOOL_SPEC]?: never; readonly [name: string]: unknown };

export interface Runtime extends AsyncDisposable {
  /**
   * Calls a tool and logs the call. One signature, so that the compiler reports a mistake at the argument. The arguments of
   * tools of other SDKs are `unknown`: they are validated when the tool is called.
   */
  call<Args = unknown, Output = unknown>(
    tool: TypedTool<Args, Output> | ForeignTool,
    args: NoInfer<Args>,
    options?: RuntimeCallOptions,
  ): Promise<Outcome<Output>>;
  /** Runs `work` as a task: tools called inside it are logged under these ids. Each `run` counts equal calls from 0. */
  run<T>(task: RunScopeOptions, work: () => T | PromiseLike<T>): Promise<T>;
  /** Stores a run for the workers of this store. Returns when it is stored; a worker that knows the name starts it. */
  enqueue(name: string, options?: EnqueueOptions): Promise<EnqueuedRun>;
  approvals(filter?: ApprovalFilter): Promise<Approval[]>;
  resolveToolApproval(id: string, decision: ApprovalDecision): Promise<Approval>;
  calls(filter?: CallFilter): Promise<LoggedCall[]>;
  /** Runs of every kind, newest first, page by page. */
  runs(filter?: RunFilter): Promise<RunPage>;
  /** A run with its tree of tasks, its counts, and the runs that it was forked from or into. */
  describeRun(runId: string): Promise<RunDescription>;
  /** Why a run has its status, and which commands come next. */
  explainRun(runId: string): Promise<RunExplanation>;
  /**
   * Sends a signal to a workflow run. It is stored until a `<Signal>` with this name uses it, once.
   * @throws WORKFLOW_RUN_OVER, WORKFLOW_SIGNAL_INVALID, TOOL_RUN_NOT_FOUND
   */
  signal(runId: string, name: string, payload?: unknown, options?: SignalOptions): Promise<SentSignal>;
  /**
   * Reverts the effects of a run, newest first, with the `revert` functions of its tools. Each revert is a logged call and
   * happens once. A reverted run cannot be resumed.
   * @throws TOOL_RUN_CONFLICT for a run in progress, TOOL_RUN_NOT_FOUND, TOOL_RUN_DELETED
   */
  revert(options: RevertOptions): Promise<RevertReport>;
  /**
   * Creates a run from the part of another run before a task or call. It runs nothing: a resume or a worker does.
   * @throws TOOL_FORK_INVALID, TOOL_RUN_NOT_FOUND, TOOL_RUN_DELETED
   */
  fork(options: ForkOptions): Promise<ForkedRun>;
  /** Recurring runs of workflows. Workers start them. */
  readonly schedules: Schedules;
  /**
   * What models say in a run and what their calls return, live, in any process. Ends with a part `ended`; a part `retracted`
   * takes back the earlier parts of its response. A run that does not exist yet is waited for.
   */
  stream(runId: string, options?: StreamOptions): AsyncIterableIterator<StreamPart, void, void>;
  /** The full output of a call that the log shows truncated. */
  fullOutput(key: string): Promise<unknown>;
  /** A warning for a retried agent: the non-idempotent calls of earlier attempts. `""` if there are none. */
  retryWarning(task: TaskIdentity): Promise<string>;
  /** Deletes old runs that have ended, and the resume data of old stopped runs. Never active or pending runs. */
  gc(options?: GcOptions): Promise<GcReport>;
  /** Returns a function that unsubscribes. A listener that throws does not affect the run. */
  subscribe(listener: EventListener): () => void;
  /** Opens the store now, so that an error is reported immediately. */
  ready(): Promise<void>;
  /**
   * Waits for the calls that have begun, then closes the store. The same as `[Symbol.asyncDispose]()`, for programs
   * without `await using`. Closing twice is allowed.
   */
  close(): Promise<void>;
}
