/** Progress as plain lines, for logs. */
import { progressText } from "../../invoke/tool-reports.ts";
import { isCallEvent, type RuntimeEvent } from "../../invoke/events.ts";
import { toTerminalName } from "../../terminal/terminal-text.ts";
import { describeMissing } from "../../workflow/missing-tasks.ts";
import type { Screen } from "../screen.ts";
import { toDuration } from "../../terminal/readable.ts";

import type { Progress, ShownRun } from "./show-progress.ts";

export function showLines(screen: Screen, run: ShownRun): Progress {
  const startTimes = new Map<string, number>();
  const print = (text: string): void => screen.print(text);
  let isAnnounced = false;
  return {
    onProgress: (event) => {
      // Until the first event, the run may still be refused.
      if (!isAnnounced) print(`run ${toTerminalName(run.runId)} ${run.isResumed ? "resumed" : "started"}`);
      isAnnounced = true;
      if (event.type === "replay-diverged")
        print(`task ${toTerminalName(event.nodeId)} makes different requests from the logged ones`);
      if (event.type === "tasks-missing") print(describeMissing(event.calls));
      if (event.type === "loop-limit-reached")
        print(`${toTerminalName(event.name)} reached its limit of ${event.maxIterations} iterations`);
      if (event.type !== "task-changed") return;
      const { nodeId, iteration, attempt, status } = event;
      const name = taskName(nodeId, iteration);
      const key = `${name} ${attempt}`;
      if (status === "running") {
        if (!startTimes.has(key)) print(`task ${name} running${attempt === 1 ? "" : `, attempt ${attempt}`}`);
        startTimes.set(key, performance.now());
        return;
      }
      const start = startTimes.get(key);
      startTimes.delete(key);
      print(
        `task ${name} ${status}${start === undefined ? "" : ` after ${toDuration(performance.now() - start)}`}`,
      );
    },
    onCall: (event) => {
      const line = callLine(event);
      if (line !== undefined) print(`  ${line}`);
    },
    note: print,
    [Symbol.dispose]: () => undefined,
  };
}

export function taskName(nodeId: string, iteration: number): string {
  const name = toTerminalName(nodeId);
  return iteration === 0 ? name : `${name}[${iteration}]`;
}

function callLine(event: RuntimeEvent): string | undefined {
  if (!isCallEvent(event) || event.type === "approval-settled") return undefined;
  const call = `${toTerminalName(event.nodeId)}: ${toTerminalName(event.toolName)}`;
  switch (event.type) {
    case "call-started":
      return `${call} …`;
    case "call-finished": {
      const how = event.replayed ? ", replayed" : event.fromCache ? ", from the cache" : "";
      const code = event.errorCode === undefined ? "" : ` (${event.errorCode})`;
      return `${call} ${event.status}${how}${code}`;
    }
    case "call-retried":
      return `${call} retries (${event.errorCode})`;
    case "call-progress":
      return `${call}: ${progressText(event)}`;
    case "approval-requested":
      return `${call} waits for approval ${event.approvalId}`;
    default:
      return undefined;
  }
}
