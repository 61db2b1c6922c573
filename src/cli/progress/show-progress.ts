/** Shows how a run goes: a tree that is drawn over on a terminal, else a line for each thing that happens. */
import type { EventListener } from "../../invoke/events.ts";
import type { EndedTask } from "../../operate/describe-run.ts";
import type { WorkflowEvent } from "../../workflow/run-state.ts";
import type { Screen } from "../screen.ts";
import { showLines } from "./lines.ts";
import { showTree } from "./tree.ts";

export interface Progress extends Disposable {
  readonly onProgress: (event: WorkflowEvent) => void;
  readonly onCall: EventListener;
  note(text: string): void;
}

export interface ShownRun {
  readonly runId: string;
  readonly isResumed: boolean;
  /** Tasks that ended before this resume: no event tells of them. */
  readonly endedTasks: readonly EndedTask[];
}

export function showProgress(screen: Screen, run: ShownRun): Progress {
  if (screen.isJson) return silent(screen);
  return screen.isLive ? showTree(screen, run) : showLines(screen, run);
}

function silent(screen: Screen): Progress {
  return {
    onProgress: () => undefined,
    onCall: () => undefined,
    note: (text) => screen.warn(text),
    [Symbol.dispose]: () => undefined,
  };
}
