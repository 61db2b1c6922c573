/** Progress as a live tree: tasks with their times, and the tool call that each is making. */
import type { EndedTask } from "../../operate/inspect-run.ts";
import { progressText } from "../../invoke/tool-reports.ts";
import type { PlanOutline, TaskStatus } from "../../invoke/events.ts";
import type { Colour, Screen } from "../screen.ts";
import { toDuration, toShortText } from "../../terminal/readable.ts";
import { toTerminalName } from "../../terminal/terminal-text.ts";
import { LiveArea } from "../../terminal/live-area.ts";
import type { Progress, ShownRun } from "./show-progress.ts";

interface ShownTask {
  readonly status: TaskStatus;
  readonly attempt: number;
  readonly iteration: number;
  readonly since: number;
  readonly tookMs: number | undefined;
  readonly call: string | undefined;
}

const MARKS: Readonly<Record<TaskStatus, readonly [string, Colour]>> = {
  running: ["●", "cyan"],
  finished: ["✔", "green"],
  failed: ["✖", "red"],
  skipped: ["–", "gray"],
  waiting: ["◌", "yellow"],
};

const REDRAW_MS = 100;
const ECHO_MS = 20;

export function showTree(screen: Screen, run: ShownRun): Progress {
  const tasks = new Map(run.endedTasks.map((task) => [task.nodeId, toShownTask(task)]));
  const area = new LiveArea();
  const start = performance.now();
  let name = "workflow";
  let outline: readonly PlanOutline[] | undefined;

  const draw = (): void => {
    // Until the plan is rendered, the run may still be refused.
    if (outline === undefined) return;
    const now = performance.now();
    const lines = outline.flatMap((node) => linesOf(screen, node, tasks, now, "  "));
    const ids = idsOf(outline);
    const done = ids.filter((id) => isDone(tasks.get(id))).length;
    const head = `${screen.paint("bold", name)} ${toTerminalName(run.runId)}  ${done} of ${ids.length} tasks, ${toDuration(now - start)}`;
    area.draw([head, ...fitting(lines, tasks.size)].map((line) => screen.escape(line)));
  };
  // A second Ctrl-C ends the process immediately. The terminal prints ^C below the tree just after it sends the signal.
  const drawLast = (): void => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ECHO_MS);
    draw();
  };
  const timer = setInterval(draw, REDRAW_MS);
  timer.unref();
  process.once("exit", drawLast);

  const change = (nodeId: string, changed: Partial<ShownTask>): void => {
    const known = tasks.get(nodeId);
    const blank = { status: "running", attempt: 1, iteration: 0, since: performance.now() } as const;
    tasks.set(nodeId, { ...blank, tookMs: undefined, call: undefined, ...known, ...changed });
  };
  return {
    onProgress: (event) => {
      if (event.type === "plan-rendered") {
        name = event.name;
        outline = event.outline();
      } else if (event.type === "task-changed") {
        const { nodeId, status, attempt, iteration } = event;
        const known = tasks.get(nodeId);
        const isNew = known?.iteration !== iteration || known.attempt !== attempt;
        const since = isNew ? performance.now() : known.since;
        const tookMs = status === "running" ? undefined : performance.now() - since;
        change(nodeId, { status, attempt, iteration, since, tookMs, call: undefined });
      }
    },
    onCall: (event) => {
      if (event.type === "call-started") change(event.nodeId, { call: event.toolName });
      if (event.type === "call-progress")
        change(event.nodeId, { call: toShortText(`${event.toolName}: ${progressText(event)}`) });
      if (event.type === "call-finished") change(event.nodeId, { call: undefined });
    },
    note: (text) => area.print(screen.escape(text)),
    [Symbol.dispose]: () => {
      clearInterval(timer);
      process.off("exit", drawLast);
      draw();
      area[Symbol.dispose]();
    },
  };
}

function linesOf(
  screen: Screen,
  node: PlanOutline,
  tasks: ReadonlyMap<string, ShownTask>,
  now: number,
  indent: string,
): string[] {
  if (node.kind !== "task") {
    const inner = node.children.flatMap((child) => linesOf(screen, child, tasks, now, `${indent}  `));
    return [`${indent}${screen.paint("gray", node.kind)}`, ...inner];
  }
  const task = tasks.get(node.id);
  if (task === undefined) return [`${indent}${screen.paint("gray", `○ ${toTerminalName(node.id)}`)}`];
  const [mark, colour] = MARKS[task.status];
  const time = toDuration(task.tookMs ?? now - task.since);
  const pass = task.iteration === 0 ? "" : `  pass ${task.iteration + 1}`;
  const attempt = task.attempt === 1 ? "" : `  attempt ${task.attempt}`;
  const call = task.call === undefined ? "" : `  ${screen.paint("cyan", `→ ${task.call}`)}`;
  return [
    `${indent}${screen.paint(colour, mark)} ${toTerminalName(node.id)}  ${screen.paint("gray", time + pass + attempt)}${call}`,
  ];
}

function idsOf(nodes: readonly PlanOutline[]): string[] {
  return nodes.flatMap((node) => (node.kind === "task" ? [node.id] : idsOf(node.children)));
}

function isDone(task: ShownTask | undefined): boolean {
  return task?.status === "finished" || task?.status === "skipped";
}

function toShownTask({ status, attempt, iteration, startedAtMs, finishedAtMs }: EndedTask): ShownTask {
  const tookMs = (finishedAtMs ?? startedAtMs) - startedAtMs;
  return { status, attempt, iteration, since: 0, tookMs, call: undefined };
}

/** A tree that is higher than the terminal cannot be drawn over: what is running is shown, the rest is counted. */
function fitting(lines: readonly string[], started: number): readonly string[] {
  const most = Math.max(4, (process.stdout.rows > 0 ? process.stdout.rows : 24) - 4);
  if (lines.length <= most) return lines;
  const first = Math.max(0, Math.min(lines.length - most, started - Math.ceil(most / 2)));
  const shown = lines.slice(first, first + most);
  const after = lines.length - first - shown.length;
  return [
    ...(first === 0 ? [] : [`  … ${first} before`]),
    ...shown,
    ...(after === 0 ? [] : [`  … ${after} after`]),
  ];
}
