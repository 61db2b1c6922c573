import { expect, test } from "vitest";
import { createFakeClock } from "./fake-clock.ts";

test("stands still until it is advanced", async () => {
  const clock = createFakeClock(1_000);
  expect(clock.now()).toBe(1_000);
  await clock.advance(250);
  expect(clock.now()).toBe(1_250);
});

test("wakes sleepers in order, each at its own time", async () => {
  const clock = createFakeClock(0);
  const woken: string[] = [];
  const sleep = async (name: string, ms: number): Promise<void> => {
    await clock.sleep(ms);
    woken.push(`${name} at ${clock.now()}`);
  };
  const all = [sleep("late", 300), sleep("early", 100), sleep("second early", 100), sleep("never", 900)];
  expect(clock.pendingSleeps.map(({ ms }) => ms)).toEqual([100, 100, 300, 900]);
  await clock.advance(500);
  expect(woken).toEqual(["early at 100", "second early at 100", "late at 300"]);
  expect(clock.pendingSleeps).toEqual([{ wakesAtMs: 900, ms: 900 }]);
  await clock.advance(400);
  await Promise.all(all);
});

test("wakes sleepers that start while it advances", async () => {
  const clock = createFakeClock(0);
  let ticks = 0;
  void (async () => {
    for (;;) {
      await clock.sleep(100);
      ticks += 1;
    }
  })();
  await clock.advance(1_000);
  expect(ticks).toBe(10);
});

test("a jump changes the wall clock and lets no time pass", async () => {
  const clock = createFakeClock(1_000);
  let isAwake = false;
  void clock.sleep(100).then(() => (isAwake = true));
  clock.jump(3_600_000);
  expect([clock.now(), clock.monotonic()]).toEqual([3_601_000, 0]);
  expect(clock.pendingSleeps).toEqual([{ wakesAtMs: 3_601_100, ms: 100 }]);
  clock.jump(-7_200_000);
  await clock.advance(99);
  expect(isAwake).toBe(false);
  await clock.advance(1);
  expect(isAwake).toBe(true);
  expect([clock.now(), clock.monotonic()]).toEqual([-3_598_900, 100]);
});

test("ends a sleep with the reason of its signal", async () => {
  const clock = createFakeClock();
  const controller = new AbortController();
  const sleeping = clock.sleep(100, controller.signal);
  controller.abort(new Error("enough"));
  await expect(sleeping).rejects.toThrow("enough");
  expect(clock.pendingSleeps).toEqual([]);
  await expect(clock.sleep(100, controller.signal)).rejects.toThrow("enough");
});
