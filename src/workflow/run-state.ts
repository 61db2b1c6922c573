/** One run at work: what its tasks need to know of it. */
import type { ToolSettings } from "../definition/context.ts";
import type { Host, Limits } from "../invoke/host.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { CallOfTask } from "../store/earlier-calls.ts";
import type { PlanOutline } from "./plan-outline.ts";
import type { TaskStates, TaskStatus } from "./task-state.ts";

export type WorkflowEvent =
  | {
      readonly type: "task-changed";
      readonly nodeId: string;
      readonly iteration: number;
      readonly attempt: number;
      readonly status: TaskStatus;
    }
  /** The tree was rendered. What it looks like is put together for those who ask. */
  | { readonly type: "plan-rendered"; readonly name: string; readonly outline: () => readonly PlanOutline[] }
  /** The run was resumed with changes, and the tasks that made these calls are gone: a renamed one makes them again. */
  | { readonly type: "tasks-missing"; readonly calls: readonly CallOfTask[] }
  /** A loop has run `maxIterations` times, and `until` is still false. */
  | {
      readonly type: "loop-limit-reached";
      readonly name: string;
      readonly maxIterations: number;
      readonly onMaxReached: "return-last" | "fail";
    }
  /** The loop asked something else than what is on record: from here on it is live. */
  | { readonly type: "replay-diverged"; readonly nodeId: string; readonly position: number };

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
  tell(event: WorkflowEvent): void;
}
