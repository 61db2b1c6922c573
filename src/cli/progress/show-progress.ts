/** Shows the progress of a run: a live tree on a terminal, else one line for each event. */
import type { EventListener } from "../../invoke/events.ts";
import type { EndedTask } from "../../operate/inspect-run.ts";
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
  /** Tasks that ended before this resume: they emit no event. */
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
