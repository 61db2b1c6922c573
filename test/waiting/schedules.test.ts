/** Schedules: who starts which run. Workers call `fireSchedules`; here the tests do, and set the clock by moving the rows. */
import { createRuntime, type Runtime, type ScheduleOptions } from "toolwright";
import { expect, onTestFinished, test } from "vitest";
import { resumeSchedule, setSchedule } from "../../src/runtime/change-schedules.ts";
import { fireSchedules, readStoreTime } from "../../src/runtime/fire-schedules.ts";
import { timesOf } from "../../src/runtime/schedule-times.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import { watchStore } from "../semantics/harness.ts";
import { changeRows, createStorePath, rowsOf } from "../workflow/harness.ts";

const HOUR = 3_600_000;
/** A bit more than a period: the rows move, not the clock, and two times must not be the same moment. */
const PERIOD = HOUR + 7_000;

interface Opened {
  readonly address: string;
  readonly runtime: Runtime;
  readonly store: Store;
  /** As a worker that has run for a long time. */
  readonly fire: (sinceMs?: number) => Promise<readonly string[]>;
  /** As if this time had passed. */
  readonly pass: (ms: number) => Promise<void>;
  readonly runs: () => Promise<string[]>;
  readonly end: (runId: string) => Promise<void>;
}

async function open(): Promise<Opened> {
  const address = createStorePath();
  const runtime = createRuntime({ store: address });
  await runtime.ready();
  const store = await openStore(address);
  onTestFinished(async () => {
    await store.close();
    await runtime.close();
  });
  return {
    address,
    runtime,
    store,
    fire: async (sinceMs = 0) => (await fireSchedules(store, { sinceMs })).runIds,
    pass: (ms) =>
      changeRows(
        address,
        `UPDATE toolwright_schedules SET set_at_ms = set_at_ms - ${ms}, next_at_ms = next_at_ms - ${ms}`,
      ),
    runs: async () => (await runtime.runs({})).runs.map(({ runId }) => runId).toSorted(),
    end: (runId) =>
      changeRows(
        address,
        `UPDATE toolwright_workflow_runs SET status = 'finished', finished_at_ms = {now} WHERE run_id = '${runId}'`,
      ),
  };
}

const hourly: ScheduleOptions = { name: "hourly", workflow: "report", everyMs: HOUR, input: { day: 1 } };

test("rule 40: a firing starts one queued run whose id holds its time, whichever worker fires first", async () => {
  const { runtime, address, fire, pass, runs } = await open();
  const set = await runtime.schedules.set(hourly);
  expect(set).toMatchObject({ overlap: "skip", catchUp: "none", tz: "UTC", paused: false, lastRunId: null });
  expect(await fire()).toEqual([]);
  await pass(HOUR);
  const stores = await Promise.all(Array.from({ length: 4 }, () => openStore(address)));
  const fired = await Promise.all(stores.map((store) => fireSchedules(store, { sinceMs: 0 })));
  await Promise.all(stores.map((store) => store.close()));
  const started = fired.flatMap(({ runIds }) => runIds);
  expect(started).toHaveLength(1);
  expect(started[0]).toMatch(/^schedule:hourly:20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(await runs()).toEqual(started);
  expect(await rowsOf(address, "SELECT workflow, status, input_json FROM toolwright_workflow_runs")).toEqual([
    { workflow: "report", status: "queued", input_json: '{"day":1}' },
  ]);
  expect(await rowsOf(address, "SELECT is_due FROM toolwright_runs")).toEqual([{ is_due: 1 }]);
  const [listed] = await runtime.schedules.list();
  expect(listed).toMatchObject({ lastRunId: started[0], skipped: 0 });
  expect((listed?.nextAtMs ?? 0) - (listed?.lastAtMs ?? 0)).toBe(HOUR);
});

test("even a schedule row that was put back starts no second run for its time", async () => {
  const { runtime, address, fire, pass, runs } = await open();
  await runtime.schedules.set(hourly);
  await pass(HOUR);
  const [before] = await rowsOf(address, "SELECT next_at_ms FROM toolwright_schedules");
  expect(await fire()).toHaveLength(1);
  await changeRows(
    address,
    `UPDATE toolwright_schedules SET next_at_ms = ${String(before?.["next_at_ms"])}, last_run_id = NULL`,
  );
  expect(await fire()).toEqual([]);
  expect(await runs()).toHaveLength(1);
});

test('overlap "skip" starts no run while the previous run has not ended', async () => {
  const { runtime, fire, pass, end } = await open();
  await runtime.schedules.set(hourly);
  await pass(PERIOD);
  const [first = ""] = await fire();
  await pass(PERIOD);
  expect(await fire()).toEqual([]);
  expect(await runtime.schedules.list()).toMatchObject([{ lastRunId: first, skipped: 1, queued: 0 }]);
  await end(first);
  await pass(PERIOD);
  expect(await fire()).toHaveLength(1);
});

test('overlap "queue" runs one at a time, in order, and finishes what is queued after a pause', async () => {
  const { runtime, fire, pass, end, runs } = await open();
  await runtime.schedules.set({ ...hourly, overlap: "queue" });
  await pass(PERIOD);
  const [first = ""] = await fire();
  for (const _ of [1, 2]) {
    await pass(PERIOD);
    expect(await fire()).toEqual([]);
  }
  expect(await runtime.schedules.pause("hourly")).toMatchObject({ paused: true, queued: 2, nextAtMs: null });
  await pass(PERIOD);
  expect(await fire()).toEqual([]);
  await end(first);
  const [second = ""] = await fire();
  expect(second).toMatch(/^schedule:hourly:/);
  expect(await fire()).toEqual([]);
  await end(second);
  const [third = ""] = await fire();
  await end(third);
  expect(await fire()).toEqual([]);
  // `pass` moves the clock of the rows, so the times are not in the order of the firings.
  expect(await runs()).toHaveLength(3);
  expect(await runtime.schedules.list()).toMatchObject([{ paused: true, queued: 0 }]);
});

test("runs that were due while no worker was running: 'none' starts nothing, 'last' starts one run", async () => {
  const { runtime, fire, pass, store } = await open();
  await runtime.schedules.set(hourly);
  await runtime.schedules.set({ ...hourly, name: "careful", catchUp: "last" });
  await pass(10 * HOUR + HOUR / 2);
  const sinceMs = await readStoreTime(store);
  const started = await fire(sinceMs);
  expect(started).toHaveLength(1);
  expect(started[0]).toMatch(/^schedule:careful:/);
  const [careful, plain] = await runtime.schedules.list();
  expect(plain).toMatchObject({ lastRunId: null, skipped: 1 });
  // The last of the times that were missed, half an hour ago; the next one is half an hour away.
  const now = await readStoreTime(store);
  expect(Math.abs(now - HOUR / 2 - (careful?.lastAtMs ?? 0))).toBeLessThan(60_000);
  expect((careful?.nextAtMs ?? 0) - (careful?.lastAtMs ?? 0)).toBe(HOUR);
});

test("a worker that slept through a time has missed it", async () => {
  const { runtime, fire, pass } = await open();
  await runtime.schedules.set(hourly);
  await pass(HOUR + 61_000);
  expect(await fire(0)).toEqual([]);
});

test("a period counts from the first set; an equal set changes nothing, another period starts over", async () => {
  const { runtime } = await open();
  const first = await runtime.schedules.set(hourly);
  expect(await runtime.schedules.set(hourly)).toEqual(first);
  const renamed = await runtime.schedules.set({ ...hourly, input: { day: 2 } });
  expect(renamed).toEqual({ ...first, input: { day: 2 } });
  const faster = await runtime.schedules.set({ ...hourly, everyMs: 60_000 });
  expect((faster.nextAtMs ?? 0) < (first.nextAtMs ?? 0)).toBe(true);
});

test("pause, resume and remove; a schedule that is set again stays paused", async () => {
  const { runtime, fire, pass } = await open();
  await runtime.schedules.set(hourly);
  await runtime.schedules.pause("hourly");
  await runtime.schedules.set(hourly);
  await pass(5 * HOUR);
  expect(await fire()).toEqual([]);
  const resumed = await runtime.schedules.resume("hourly");
  expect(resumed.paused).toBe(false);
  expect(await fire()).toEqual([]);
  await pass(HOUR);
  expect(await fire()).toHaveLength(1);
  await runtime.schedules.remove("hourly");
  expect(await runtime.schedules.list()).toEqual([]);
  for (const act of ["pause", "resume", "remove"] as const) {
    await expect(runtime.schedules[act]("hourly")).rejects.toMatchObject({
      code: "WORKFLOW_SCHEDULE_NOT_FOUND",
    });
  }
});

/** The same store, whose next read is followed by `change` before the caller sees it. */
function changedAfterRead(
  store: Store,
  change: () => Promise<unknown>,
): { readonly store: Store; arm: () => void } {
  let isArmed = false;
  const changing: Store = {
    ...watchStore(store, {}),
    async read(work) {
      const rows = await store.read(work);
      if (isArmed) {
        isArmed = false;
        await change();
      }
      return rows;
    },
  };
  return { store: changing, arm: () => (isArmed = true) };
}

test("a pause is not lost when the schedule is set at the same time", async () => {
  const { runtime, store } = await open();
  await runtime.schedules.set(hourly);
  for (const reads of [1, 2]) {
    let left = reads;
    const { store: changing, arm } = changedAfterRead(store, async () => {
      left -= 1;
      if (left > 0) return arm();
      await runtime.schedules.pause("hourly");
    });
    arm();
    expect(await setSchedule(changing, { ...hourly, input: { day: reads } })).toMatchObject({ paused: true });
    expect(await runtime.schedules.resume("hourly")).toMatchObject({ paused: false, input: { day: reads } });
  }
});

test("a schedule that gets another rhythm while it is resumed follows the new one", async () => {
  const { runtime, store } = await open();
  const daily: ScheduleOptions = { name: "hourly", workflow: "report", cron: "0 3 * * *" };
  const yearly: ScheduleOptions = { ...daily, cron: "0 3 1 1 *" };
  const times = await timesOf({ cron: yearly.cron ?? null, everyMs: null, tz: "UTC", setAtMs: 0 });
  for (const reads of [1, 2]) {
    await runtime.schedules.set(daily);
    await runtime.schedules.pause("hourly");
    let left = reads;
    const { store: changing, arm } = changedAfterRead(store, async () => {
      left -= 1;
      if (left > 0) return arm();
      await runtime.schedules.set(yearly);
    });
    arm();
    await resumeSchedule(changing, "hourly");
    const nextAtMs = times.after(await readStoreTime(store));
    expect(await runtime.schedules.list()).toMatchObject([{ paused: false, cron: yearly.cron, nextAtMs }]);
  }
});

test("a clock that was set back does not silence a period", async () => {
  const { runtime, fire, pass, store } = await open();
  await runtime.schedules.set(hourly);
  await pass(-30 * HOUR);
  expect(await fire()).toEqual([]);
  const [listed] = await runtime.schedules.list();
  // It counts from a `set` in the future, so the next time is the first one after it, or earlier.
  expect(listed?.nextAtMs).not.toBeNull();
  expect((listed?.nextAtMs ?? 0) - (await readStoreTime(store))).toBeLessThanOrEqual(HOUR);
});

test("cron lines follow their time zone over the change of the clocks", async () => {
  const times = await timesOf({ cron: "30 3 * * *", everyMs: null, tz: "Europe/Berlin", setAtMs: 0 });
  const list: string[] = [];
  for (let at = Date.UTC(2026, 2, 27, 12); list.length < 3;) {
    at = times.after(at) ?? 0;
    list.push(new Date(at).toISOString());
  }
  expect(list).toEqual(["2026-03-28T02:30:00.000Z", "2026-03-29T01:30:00.000Z", "2026-03-30T01:30:00.000Z"]);
  expect(times.upTo(Date.UTC(2026, 2, 29, 1, 30))).toBe(Date.UTC(2026, 2, 29, 1, 30));
  expect(times.upTo(Date.UTC(2026, 2, 29, 1, 29, 59, 999))).toBe(Date.UTC(2026, 2, 28, 2, 30));
});

test("a cron line with seconds, and a schedule that fires once", async () => {
  const seconds = await timesOf({ cron: "*/5 * * * * *", everyMs: null, tz: "UTC", setAtMs: 0 });
  expect(seconds.after(1_000)).toBe(5_000);
  expect(seconds.upTo(14_999)).toBe(10_000);
  const { runtime, address, fire } = await open();
  await runtime.schedules.set({ name: "once", workflow: "w", cron: "2999-12-24T00:00:00" });
  await changeRows(
    address,
    "UPDATE toolwright_schedules SET cron = '2020-12-24T00:00:00', next_at_ms = {now} - 5",
  );
  expect(await fire()).toHaveLength(1);
  expect(await runtime.schedules.list()).toMatchObject([{ nextAtMs: null }]);
});

test.each([
  [{ cron: "every day" }, "cron does not parse"],
  [{ cron: "61 * * * *" }, "cron does not parse"],
  [{ cron: "0 0 30 2 *" }, "has no time in the future"],
  [{ cron: "0 3 * * *", tz: "Mars/Olympus" }, 'tz must be a time zone such as "Europe/Berlin"'],
  [{}, "exactly one of them is needed, and there is neither"],
  [{ cron: "0 3 * * *", everyMs: 1_000 }, "exactly one of them is needed, and there is both"],
  [{ everyMs: 10 }, "everyMs must be an integer of at least 100"],
  [{ everyMs: "1000" }, "everyMs must be an integer"],
  [{ everyMs: 1_000, tz: "UTC" }, "a period in everyMs has none"],
  [{ everyMs: 1_000, overlap: "both" }, '"skip" or "queue"'],
  [{ everyMs: 1_000, catchup: "last" }, "catchUp"],
  [{ everyMs: 1_000, name: "" }, "name must be a non-empty string"],
  [{ everyMs: 1_000, workflow: undefined }, "workflow is missing"],
  [{ everyMs: 1_000, input: () => 1 }, "the input cannot be stored"],
])("bad options %j: %s", async (options, message) => {
  const { runtime } = await open();
  const given = { name: "n", workflow: "w", ...options } as unknown as ScheduleOptions;
  await expect(runtime.schedules.set(given)).rejects.toMatchObject({
    code: "TOOL_OPTION_INVALID",
    message: expect.stringContaining(message),
  });
  expect(await runtime.schedules.list()).toEqual([]);
});
