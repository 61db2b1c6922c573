/** The state of a run in progress that its tasks share. */
import type { ToolSettings } from "../definition/tool-settings.ts";
import type { DivergedDetails, EventEnvelope, WorkflowEventDetails } from "../invoke/events.ts";
import type { Host, Limits } from "../invoke/host.ts";
import type { RunRelease } from "../invoke/run-release.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { WaitKind } from "../store/tables/waits.ts";
import type { StoredOutline } from "./stored-outline.ts";
import type { TaskStates } from "./task-state.ts";
import type { TaskInstance } from "./task-instance.ts";

/** The events that `onProgress` receives: those about the workflow's tree and tasks. */
export type WorkflowEvent = EventEnvelope &
  (WorkflowEventDetails | (DivergedDetails & { readonly nodeId: string }));

export interface CurrentWait {
  readonly kind: WaitKind;
  /** `undefined` without a limit. */
  readonly leftMs: number | undefined;
}

export interface RunState {
  readonly runId: string;
  readonly workflow: string;
  readonly epoch: number;
  readonly runtime: Runtime;
  readonly host: Host;
  readonly states: TaskStates;
  readonly outline: StoredOutline;
  readonly settings: Partial<ToolSettings>;
  readonly limits: Limits | undefined;
  /** Aborted when the run must stop. */
  readonly signal: AbortSignal;
  /** Set for a run that a worker may give back. */
  readonly release: RunRelease | undefined;
  /** Loops that have ended, by name; see `loopName`. */
  readonly closedLoops: Set<string>;
  closeLoop(name: string): Promise<void>;
  /** What tasks wait for, besides approvals, by the name of the instance. */
  readonly waits: Map<string, CurrentWait>;
  nextPosition(): number;
  emit(event: WorkflowEventDetails | (DivergedDetails & { readonly nodeId: string })): void;
}

/** How the runtime identifies an attempt. */
export function attemptId(run: RunState, { props, loop }: TaskInstance, attempt: number) {
  return {
    runId: run.runId,
    nodeId: props.id,
    iteration: loop.at(-1) ?? 0,
    attempt,
    ...(loop.length === 0 ? {} : { loopPath: loop }),
  };
}
