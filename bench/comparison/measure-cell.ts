/** Measures one contender in one row: which processes run, where they store their data, and what they report. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { StorageLocation } from "./contender.ts";
import { CONTENDERS } from "./contenders.ts";
import type { Task } from "./one.ts";
import type { Cell, Description, RowId } from "./results.ts";
import { startTask } from "./run-task.ts";
import { openShop } from "./shop.ts";

export interface Sizes {
  readonly turns: number;
  readonly wideTurns: number;
  readonly steps: number;
  readonly longTurns: number;
  readonly orders: number;
  /** After this, long rows are stopped. */
  readonly limitMs: number;
}

export const SIZES: Sizes = {
  turns: 200,
  wideTurns: 15,
  steps: 1_000,
  longTurns: 10_000,
  orders: 20,
  limitMs: 12_000,
};

export const QUICK_SIZES: Sizes = {
  turns: 60,
  wideTurns: 5,
  steps: 100,
  longTurns: 500,
  orders: 6,
  limitMs: 4_000,
};

/** On top of the limit: to start, to load packages, and to end. */
const START_MS = 60_000;

export interface Measured {
  readonly cell: Cell;
  readonly description?: Description;
}

export interface Setting {
  readonly folder: string;
  readonly sizes: Sizes;
  /** A new, empty database. */
  createDatabase(): Promise<string>;
  /** What the step row leaves for the resume row, by contender. */
  readonly finishedSteps: Map<string, { readonly location: StorageLocation; readonly cell: Cell }>;
}

export async function measureCell(contender: string, row: RowId, setting: Setting): Promise<Measured> {
  const { sizes, finishedSteps } = setting;
  const base = { contender, limitMs: sizes.limitMs };
  if (row === "kill" || row === "kill-keyed")
    return countEffects(contender, row === "kill-keyed", await newLocation(contender, row, setting), sizes);
  if (row === "resume") {
    const steps = finishedSteps.get(contender);
    if (steps?.cell.kind !== "time")
      return { cell: steps?.cell ?? { kind: "failed", why: "The steps were not measured." } };
    if (steps.cell.note !== undefined)
      return { cell: { kind: "cannot", why: `Not measured: its steps were ${steps.cell.note}.` } };
    return run({ ...base, row, location: steps.location, count: sizes.steps });
  }
  const location = await newLocation(contender, row, setting);
  const counts = {
    loop: sizes.turns,
    logged: sizes.turns,
    wide: sizes.wideTurns,
    step: sizes.steps,
    agent: sizes.longTurns,
  };
  const measured = await run({ ...base, row, location, count: counts[row] });
  if (row === "step") finishedSteps.set(contender, { location, cell: measured.cell });
  return measured;
}

async function newLocation(contender: string, row: RowId, setting: Setting): Promise<StorageLocation> {
  const folder = join(setting.folder, `${contender}-${row}`);
  mkdirSync(folder, { recursive: true });
  const postgres = CONTENDERS[contender]?.usesPostgres === true ? await setting.createDatabase() : "";
  return { folder, postgres };
}

async function run(task: Task): Promise<Measured> {
  const result = await startTask(task, task.limitMs * 3 + START_MS).result;
  if (result === "killed") return { cell: { kind: "failed", why: "It was killed." } };
  if ("failure" in result) return { cell: { kind: "failed", why: result.failure } };
  return {
    cell: result.cell ?? { kind: "failed", why: "It sent no result." },
    description: result.description,
  };
}

/** Runs the orders, kills the process in one of them, resumes in a new process, and reads the shop's count. */
async function countEffects(
  contender: string,
  isKeyed: boolean,
  location: StorageLocation,
  sizes: Sizes,
): Promise<Measured> {
  let killFirst = (): void => undefined;
  await using shop = await openShop(Math.floor(sizes.orders / 2) - 1, () => killFirst());
  const base = { contender, row: "orders", location, count: sizes.orders, limitMs: sizes.limitMs } as const;
  const task = { ...base, isKeyed, shop: shop.url };
  const first = startTask(task, sizes.limitMs + START_MS);
  killFirst = first.kill;
  const ended = await first.result;
  if (ended !== "killed") {
    if ("failure" in ended) return { cell: { kind: "failed", why: ended.failure } };
    // It reports only why it cannot: otherwise the shop would have killed it.
    return {
      cell: ended.cell ?? { kind: "failed", why: "It was not killed." },
      description: ended.description,
    };
  }
  const result = await startTask({ ...task, isResume: true }, sizes.limitMs + START_MS).result;
  const counts = [...shop.orders.values()];
  const counted = {
    kind: "effects",
    orders: sizes.orders,
    effects: counts.reduce((sum, count) => sum + count, 0),
    twice: counts.filter((count) => count > 1).length,
    missing: sizes.orders - counts.length,
    asked: shop.asked(),
  } as const;
  if (result === "killed") return { cell: { kind: "failed", why: "It was killed." } };
  if ("failure" in result) return { cell: { ...counted, isStored: true, failure: result.failure } };
  const { cell, description } = result;
  if (cell?.kind !== "effects")
    return { cell: cell ?? { kind: "failed", why: "It sent no result." }, description };
  return { cell: { ...counted, isStored: cell.isStored }, description };
}
