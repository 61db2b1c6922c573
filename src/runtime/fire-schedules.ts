/**
 * Starts the runs of schedules: it inserts queued runs, which workers take. Every worker may call it. The store decides who
 * starts a run: the time of a firing is part of the run's id, and the row of the schedule moves on in the same transaction.
 */
import { ToolwrightError } from "../errors.ts";
import type { Store, Transaction } from "../store/store.ts";
import { insertQueuedRun } from "../store/tables/queue.ts";
import {
  hasQueue,
  isRunOpen,
  listDueSchedules,
  listQueues,
  lockSchedule,
  queueFiring,
  readNextFiring,
  readNow,
  saveSchedule,
  type ScheduleRow,
  takeFiring,
} from "../store/tables/schedules.ts";
import { encode } from "../util/encode.ts";
import { type Times, timesOf } from "./schedule-times.ts";

/** A firing that is later than this was missed, for example because the machine was asleep. */
const LATEST_MS = 60_000;

export interface FiringOptions {
  /** Since when schedules are watched, by the clock of the database. What was due before was missed. */
  readonly sinceMs: number;
}

export interface Firings {
  /** The ids of the runs that were started. */
  readonly runIds: readonly string[];
  /** Until the next time; `null` without any. What is queued waits for the end of a run, not for a time. */
  readonly nextInMs: number | null;
}

/** Whether a schedule has started this run. */
export function isFiring(runId: string): boolean {
  return runId.startsWith(PREFIX);
}

const PREFIX = "schedule:";

/** The clock of the database. */
export function readStoreTime(store: Store): Promise<number> {
  return store.read(readNow);
}

export async function fireSchedules(store: Store, options: FiringOptions): Promise<Firings> {
  const runIds: string[] = [];
  for (const schedule of await store.read(listDueSchedules)) {
    const times = await timesOf(schedule);
    const runId = await store.transaction(() => fire(schedule, times, options), "normal");
    if (runId !== undefined) runIds.push(runId);
  }
  for (const name of await store.read(listQueues)) {
    const runId = await store.transaction(() => startQueued(name), "normal");
    if (runId !== undefined) runIds.push(runId);
  }
  return { runIds, nextInMs: await store.read(readNextFiring) };
}

function* fire(seen: ScheduleRow, times: Times, { sinceMs }: FiringOptions): Transaction<string | undefined> {
  const schedule = yield* lockSchedule(seen.name);
  // Another process has fired or changed it.
  if (schedule === undefined || schedule.paused || !isSame(schedule, seen)) return undefined;
  const nowMs = yield* readNow();
  const due = schedule.nextAtMs ?? nowMs;
  const next: ScheduleRow = { ...schedule, nextAtMs: times.after(nowMs) };
  // The clock was set back.
  if (due > nowMs) {
    yield* saveSchedule(next);
    return undefined;
  }
  // One run for all times that have passed.
  const atMs = Math.max(due, times.upTo(nowMs) ?? due);
  const isMissed = atMs < sinceMs || nowMs - atMs > LATEST_MS;
  if (isMissed && schedule.catchUp === "none") {
    yield* saveSchedule({ ...next, skipped: schedule.skipped + 1 });
    return undefined;
  }
  const isBusy = (yield* isRunOpen(schedule.lastRunId)) || (yield* hasQueue(schedule.name));
  if (!isBusy) return yield* startRun(next, atMs);
  if (schedule.overlap === "queue") {
    yield* queueFiring(schedule.name, atMs);
    yield* saveSchedule(next);
  } else yield* saveSchedule({ ...next, skipped: schedule.skipped + 1 });
  return undefined;
}

function isSame(one: ScheduleRow, other: ScheduleRow): boolean {
  return (["nextAtMs", "cron", "everyMs", "tz", "setAtMs"] as const).every(
    (name) => one[name] === other[name],
  );
}

/** The oldest queued time, once the previous run has ended. A paused schedule has one, too. */
function* startQueued(name: string): Transaction<string | undefined> {
  const schedule = yield* lockSchedule(name);
  if (schedule === undefined || (yield* isRunOpen(schedule.lastRunId))) return undefined;
  const atMs = yield* takeFiring(name);
  return atMs === undefined ? undefined : yield* startRun(schedule, atMs);
}

function* startRun(schedule: ScheduleRow, atMs: number): Transaction<string | undefined> {
  const runId = `${PREFIX}${schedule.name}:${new Date(atMs).toISOString()}`;
  const isNew = yield* insertUnlessDeleted(runId, schedule);
  yield* saveSchedule({ ...schedule, lastAtMs: atMs, lastRunId: runId });
  return isNew ? runId : undefined;
}

/** A removed schedule that was set again may come to a time whose run retention has deleted. */
function* insertUnlessDeleted(
  runId: string,
  { workflow, inputJson, name }: ScheduleRow,
): Transaction<boolean> {
  try {
    return yield* insertQueuedRun({
      runId,
      kind: "workflow",
      name: workflow,
      inputJson,
      optionsJson: encode({}),
      createdAtMs: yield* readNow(),
      startAtMs: null,
      priority: 0,
      labels: { schedule: name.slice(0, 200) },
    });
  } catch (error) {
    if (ToolwrightError.is(error) && error.code === "TOOL_RUN_DELETED") return false;
    throw error;
  }
}
