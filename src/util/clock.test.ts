/** Durations by a clock that may be set back. */
import { expect, test } from "vitest";
import { momentAfter, msLeft, systemClock, wholeClock } from "./clock.ts";

const sleep = (): Promise<void> => Promise.resolve();

test("a clock without monotonic time counts only steps ahead", () => {
  let now = 1_000;
  const clock = wholeClock({ now: () => now, sleep });
  const elapsed = [1_000, 1_500, 200, 300].map((time) => {
    now = time;
    return clock.monotonic();
  });
  expect(elapsed).toEqual([0, 500, 500, 600]);
});

test("times are whole milliseconds, and an own monotonic time is kept", () => {
  const clock = wholeClock({ now: () => 1.9, sleep, monotonic: () => 2.5 });
  expect([clock.now(), clock.monotonic()]).toEqual([1, 2.5]);
});

test.each<[string, number, number]>([
  ["nothing has passed", 1_000, 100],
  ["a part has passed", 1_040, 60],
  ["all has passed", 5_000, 0],
  ["the clock was set back", 10, 100],
])("msLeft: %s", (_name, now, left) => {
  expect(msLeft(1_000, 100, now)).toBe(left);
});

test("a moment is a whole number, or null if it never comes", () => {
  expect([momentAfter(1, 1.2), momentAfter(1, Infinity), momentAfter(1, 1e300)]).toEqual([3, null, null]);
});

test("a sleep that is aborted rejects with the reason", async () => {
  const reason = new Error("stop");
  await expect(systemClock.sleep(60_000, AbortSignal.abort(reason))).rejects.toBe(reason);
  const stop = new AbortController();
  const sleeping = systemClock.sleep(60_000, stop.signal);
  stop.abort(reason);
  await expect(sleeping).rejects.toBe(reason);
});
