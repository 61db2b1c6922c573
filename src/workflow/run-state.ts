/** One run at work: what its tasks need to know of it. */
import type { ToolSettings } from "../definition/context.ts";
import type { DivergedDetails, EventEnvelope, WorkflowEventDetails } from "../invoke/events.ts";
import type { Host, Limits } from "../invoke/host.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { TaskStates } from "./task-state.ts";

/** What `onProgress` receives: the events of the run that are about its tree. */
export type WorkflowEvent = EventEnvelope &
  (WorkflowEventDetails | (DivergedDetails & { readonly nodeId: string }));

export interface RunState {
  readonly runId: string;
  readonly workflow: string;
  readonly epoch: number;
  readonly runtime: Runtime;
  readonly host: Host;
  readonly states: TaskStates;
  readonly settings: Partial<ToolSettings>;
  readonly limits: Limits | undefined;
  /** Aborted when the run is to stop. */
  readonly signal: AbortSignal;
  /** Loops that have ended, by their place. */
  readonly closedLoops: Set<string>;
  closeLoop(name: string): Promise<void>;
  nextPosition(): number;
  emit(event: WorkflowEventDetails | (DivergedDetails & { readonly nodeId: string })): void;
}
