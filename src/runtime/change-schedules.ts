/** Sets, lists, pauses and removes schedules. Starting their runs is the work of `fire-schedules.ts`. */
import {
  aFullText,
  anId,
  anInteger,
  anything,
  describe,
  oneOf,
  Problem,
} from "../definition/option-checks.ts";
import {
  asOptionError,
  checkAgainst,
  optionTable,
  type OptionTable,
  toOptionError,
} from "../definition/option-table.ts";
import { ToolwrightError } from "../errors.ts";
import { messageOf } from "../invoke/error-record.ts";
import type { Store, Transaction } from "../store/store.ts";
import {
  deleteSchedule,
  type ListedSchedule,
  listScheduleRows,
  lockSchedule,
  readNow,
  saveSchedule,
  type ScheduleRow,
} from "../store/tables/schedules.ts";
import { decode, encode } from "../util/encode.ts";
import { type Rhythm, timesOf } from "./schedule-times.ts";
import type { Schedule, ScheduleOptions } from "./schedules.ts";

/** Shorter periods would keep workers busy with nothing else. */
const SHORTEST_PERIOD_MS = 100;
/** The id of a run holds the name and a time. */
const LONGEST_NAME_BYTES = 400;

const SURFACE = "runtime.schedules.set";

export const SCHEDULE_OPTIONS: OptionTable = optionTable<ScheduleOptions>(
  SURFACE,
  {
    name: (value, field) => {
      anId(value, field);
      if (Buffer.byteLength(value as string) > LONGEST_NAME_BYTES)
        throw new Problem(field, `must be at most ${LONGEST_NAME_BYTES} bytes long.`);
    },
    workflow: anId,
    cron: aFullText,
    everyMs: anInteger(SHORTEST_PERIOD_MS),
    tz: aFullText,
    input: anything,
    overlap: oneOf("skip", "queue"),
    catchUp: oneOf("none", "last"),
  },
  { required: ["name", "workflow"], example: '{ name: "nightly", workflow: "report", cron: "0 3 * * *" }' },
);

/** @throws TOOL_OPTION_INVALID */
export async function setSchedule(store: Store, options: ScheduleOptions): Promise<Schedule> {
  asOptionError(SURFACE, () => checkSchedule(options));
  const { name, workflow, cron = null, everyMs = null, overlap = "skip", catchUp = "none" } = options;
  const inputJson = encodeInput(options.input ?? {});
  const given = { name, workflow, cron, everyMs, tz: options.tz ?? "UTC", inputJson, overlap, catchUp };
  for (;;) {
    const nowMs = await store.read(readNow);
    const stored = await store.read(() => readSchedule(name));
    // The rhythm stays if something else changes, and on every start of a program that sets its schedules.
    const isSameRhythm =
      stored?.cron === cron &&
      stored.everyMs === everyMs &&
      stored.tz === given.tz &&
      stored.nextAtMs !== null;
    const setAtMs = isSameRhythm ? stored.setAtMs : nowMs;
    const nextAtMs = isSameRhythm ? stored.nextAtMs : await firstTime({ ...given, setAtMs }, nowMs);
    const isSaved = await store.transaction(function* () {
      const current = yield* lockSchedule(name);
      // It fired or was changed in the meantime.
      if (current?.nextAtMs !== stored?.nextAtMs || current?.lastRunId !== stored?.lastRunId) return false;
      if (current !== undefined && stored !== undefined && !hasSameRhythm(current, stored)) return false;
      // The rest is taken from the locked row: it may have been paused since it was read.
      yield* saveSchedule({ ...NOT_RUN, ...current, ...given, setAtMs, nextAtMs });
      return true;
    }, "normal");
    if (isSaved) return findSchedule(store, name);
  }
}

const NOT_RUN = { paused: false, lastAtMs: null, lastRunId: null, skipped: 0 };

function checkSchedule(options: ScheduleOptions): void {
  checkAgainst(SCHEDULE_OPTIONS, options);
  const { cron, everyMs, tz } = options;
  if ((cron === undefined) === (everyMs === undefined)) {
    const which = cron === undefined ? "neither cron nor everyMs" : "both cron and everyMs";
    throw new Problem("cron", `or everyMs: exactly one of them is needed, and there is ${which}.`);
  }
  if (tz !== undefined && cron === undefined)
    throw new Problem("tz", "is the time zone of a cron line; a period in everyMs has none.");
}

async function firstTime(rhythm: Parameters<typeof timesOf>[0], nowMs: number): Promise<number> {
  try {
    const next = (await timesOf(rhythm)).after(nowMs);
    if (next !== null) return next;
    throw new Problem("cron", `has no time in the future: ${describe(rhythm.cron)}.`);
  } catch (error) {
    throw toOptionError(SURFACE, error);
  }
}

function encodeInput(input: unknown): string {
  try {
    return encode(input);
  } catch (error) {
    throw new ToolwrightError(
      "TOOL_OPTION_INVALID",
      `${SURFACE}: the input cannot be stored: ${messageOf(error)}`,
      {
        details: { option: "input" },
      },
    );
  }
}

function* readSchedule(name: string): Transaction<ListedSchedule | undefined> {
  return (yield* listScheduleRows()).find((schedule) => schedule.name === name);
}

export async function listSchedules(store: Store): Promise<Schedule[]> {
  return (await store.read(listScheduleRows)).map(toSchedule);
}

/** @throws WORKFLOW_SCHEDULE_NOT_FOUND */
export function pauseSchedule(store: Store, name: string): Promise<Schedule> {
  return changeSchedule(store, name, (row) => ({ ...row, paused: true }));
}

/** @throws WORKFLOW_SCHEDULE_NOT_FOUND */
export async function resumeSchedule(store: Store, name: string): Promise<Schedule> {
  for (;;) {
    const stored = await store.read(() => readSchedule(name));
    if (stored === undefined) throw notFound(name);
    if (!stored.paused) return toSchedule(stored);
    const times = await timesOf(stored);
    const isResumed = await store.transaction(function* () {
      const current = yield* lockSchedule(name);
      if (current === undefined) throw notFound(name);
      // Its times have changed.
      if (!hasSameRhythm(current, stored)) return false;
      yield* saveSchedule({ ...current, paused: false, nextAtMs: times.after(yield* readNow()) });
      return true;
    }, "normal");
    if (isResumed) return findSchedule(store, name);
  }
}

function hasSameRhythm(one: Rhythm, other: Rhythm): boolean {
  return (["cron", "everyMs", "tz", "setAtMs"] as const).every((name) => one[name] === other[name]);
}

/** @throws WORKFLOW_SCHEDULE_NOT_FOUND */
export async function removeSchedule(store: Store, name: string): Promise<void> {
  if ((await store.transaction(() => deleteSchedule(name), "normal")) === 0) throw notFound(name);
}

async function changeSchedule(
  store: Store,
  name: string,
  next: (row: ScheduleRow, nowMs: number) => ScheduleRow,
): Promise<Schedule> {
  await store.transaction(function* () {
    const row = yield* lockSchedule(name);
    if (row === undefined) throw notFound(name);
    yield* saveSchedule(next(row, yield* readNow()));
  }, "normal");
  return findSchedule(store, name);
}

async function findSchedule(store: Store, name: string): Promise<Schedule> {
  const row = await store.read(() => readSchedule(name));
  if (row === undefined) throw notFound(name);
  return toSchedule(row);
}

function notFound(name: string): ToolwrightError {
  return new ToolwrightError("WORKFLOW_SCHEDULE_NOT_FOUND", `There is no schedule "${name}" in this store.`, {
    details: { name },
  });
}

function toSchedule({ inputJson, setAtMs: _setAtMs, ...row }: ListedSchedule): Schedule {
  return { ...row, input: decode(inputJson), nextAtMs: row.paused ? null : row.nextAtMs };
}
