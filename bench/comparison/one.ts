/**
 * A process that measures one contender in one row and sends the result to its parent. Each measurement has its own
 * process, so that no contender warms up, slows down or instruments another.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { median } from "../measure.ts";
import type { AgentJob, Contender, StorageLocation } from "./contender.ts";
import { CONTENDERS } from "./contenders.ts";
import { orderJob, timedAgentJob, timedStepsJob } from "./jobs.ts";
import type { Cell, Description } from "./results.ts";

export interface Task {
  readonly contender: string;
  readonly row: "loop" | "logged" | "wide" | "step" | "resume" | "agent" | "orders";
  readonly location: StorageLocation;
  /** Turns, steps or orders. */
  readonly count: number;
  readonly limitMs: number;
  readonly isKeyed?: boolean;
  readonly isResume?: boolean;
  readonly shop?: string;
}

export interface Report {
  readonly description: Description;
  /** Not for orders: the shop counts them. */
  readonly cell?: Cell;
}

const ROUNDS = 3;
const WIDTH = 64;

async function timeCalls(run: (job: AgentJob) => Promise<void>, task: Task, width: number): Promise<Cell> {
  const values: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const options = { turns: task.count, width, runId: `run-${round}`, limitMs: task.limitMs / ROUNDS };
    const { job, moments } = timedAgentJob(task.location, options);
    await run(job);
    // The first turns are warm-up.
    const first = Math.floor(moments.length / 5);
    const span = (moments.at(-1) ?? Number.NaN) - (moments[first] ?? Number.NaN);
    values.push((span * 1_000) / (moments.length - 1 - first) / width);
  }
  return { kind: "time", value: median(values) };
}

async function timeLongAgent(contender: Contender, task: Task): Promise<Cell> {
  const run = typeof contender.durableAgent === "string" ? contender.plainAgent : contender.durableAgent;
  if (typeof run === "string") return { kind: "cannot", why: run };
  const options = { turns: task.count, width: 1, runId: "long", limitMs: task.limitMs };
  const { job, moments, startedAt } = timedAgentJob(task.location, options);
  await run(job);
  const turns = moments.length - 1;
  const part = Math.max(1, Math.floor(turns / 20));
  const between = (from: number, to: number): number =>
    (((moments[to] ?? Number.NaN) - (moments[from] ?? Number.NaN)) * 1_000) / (to - from);
  return {
    kind: "turns",
    turns,
    seconds: ((moments.at(-1) ?? Number.NaN) - startedAt()) / 1_000,
    // The first turns are warm-up.
    earlyUs: between(part, part * 2),
    lateUs: between(turns - part, turns),
    isComplete: turns >= task.count,
    isStored: run === contender.durableAgent,
  };
}

/** Ends this process by SIGKILL in the last step, as a crash would. */
function timeSteps(run: Exclude<Contender["steps"], string>, task: Task, send: Sender): Promise<Cell> {
  return new Promise((_, reject) => {
    const isResume = task.row === "resume";
    const { job, moments, startedAt } = timedStepsJob(task.location, {
      count: task.count + 1,
      isResume,
      limitMs: task.limitMs * 2,
      onLast: (index) => {
        const [last = Number.NaN] = moments.slice(-1);
        const skipped = Math.floor(index / 10);
        const value = isResume
          ? last - startedAt()
          : ((last - (moments[skipped] ?? Number.NaN)) * 1_000) / (index - skipped);
        const note =
          index < task.count ? { note: `stopped after ${index.toLocaleString("en-US")} steps` } : {};
        send({ kind: "time", value, ...note }, () => process.kill(process.pid, "SIGKILL"));
      },
    });
    run(job).then(() => reject(new Error("the last step did not run")), reject);
  });
}

function measure(contender: Contender, task: Task, send: Sender): Promise<Cell> | Cell {
  const cannot = (why: string): Cell => ({ kind: "cannot", why });
  const { plainAgent, durableAgent, steps } = contender;
  switch (task.row) {
    case "loop":
      return typeof plainAgent === "string" ? cannot(plainAgent) : timeCalls(plainAgent, task, 1);
    case "logged":
      return typeof durableAgent === "string" ? cannot(durableAgent) : timeCalls(durableAgent, task, 1);
    case "wide":
      return typeof durableAgent === "string" ? cannot(durableAgent) : timeCalls(durableAgent, task, WIDTH);
    case "step":
    case "resume":
      return typeof steps === "string" ? cannot(steps) : timeSteps(steps, task, send);
    case "agent":
      return timeLongAgent(contender, task);
    case "orders":
      return placeOrders(contender, task);
  }
}

async function placeOrders({ plainAgent, durableAgent }: Contender, task: Task): Promise<Cell> {
  const run = typeof durableAgent === "string" ? plainAgent : durableAgent;
  if (typeof run === "string") return { kind: "cannot", why: run };
  const { isKeyed = false, isResume = false, shop = "" } = task;
  await run(orderJob(task.location, { orders: task.count, isKeyed, isResume, shop }));
  const isStored = run === durableAgent;
  return { kind: "effects", orders: task.count, effects: 0, twice: 0, missing: 0, asked: 0, isStored };
}

function versionOf(name: string): string {
  const [folder, path] =
    name === "toolwright"
      ? ["../..", "package.json"]
      : ["../peers", join("node_modules", name, "package.json")];
  const file = join(import.meta.dirname, folder, path);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

type Sender = (cell: Cell, then: () => void) => void;

const task = JSON.parse(process.argv[2] ?? "") as Task;
const contender = await CONTENDERS[task.contender]?.load();
if (contender === undefined) throw new Error(`there is no contender ${task.contender}`);
const { name, setup, packages } = contender;
const description = {
  name,
  setup,
  versions: Object.fromEntries(packages.map((each) => [each, versionOf(each)])),
};
const send: Sender = (cell, then) => {
  process.send?.({ description, cell } satisfies Report, then);
};
send(await measure(contender, task, send), () => process.exit(0));
