/** A store may run a transaction more than once, after a conflict or a lost connection: calls do not show it. */
import { defineTool, type RuntimeEvent } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createClock, createWorld, repeatStore, until } from "./harness.ts";
import { createCharge } from "./tools.ts";

const task = { runId: "r1" };

it("rule 6: seq counts from 1 without gaps", async () => {
  const world = await createWorld();
  const { charge } = createCharge();
  const runtime = await world.runtime({ store: repeatStore(await world.open()) });
  for (const amount of [1, 2, 3]) await runtime.call(charge, { amount }, task);
  expect((await world.log("r1")).map((row) => row["seq"])).toEqual([1, 2, 3]);
});

it("rule 24: the active time of a run is counted exactly once", async () => {
  const world = await createWorld();
  const clock = createClock();
  const slow = defineTool({ name: "slow", schema: z.object({}), execute: () => clock.sleep(400) });
  const store = repeatStore(await world.open());
  const runtime = await world.runtime({ store, clock, limits: { maxWallClockMs: 1_000 } });
  const call = runtime.call(slow, {}, task);
  await until(() => clock.sleeps.includes(400));
  await clock.advance(400);
  await call;
  const [usage] = await world.rows("SELECT used FROM toolwright_usage WHERE name = 'maxWallClockMs'");
  expect(usage?.["used"]).toBe(400);
});

it("rule 25: an opening breaker emits one event", async () => {
  const world = await createWorld();
  const broken = defineTool({
    name: "broken",
    schema: z.object({}),
    retry: { circuitBreakerThreshold: 1 },
    execute: () => Promise.reject(new Error("down")),
  });
  const events: RuntimeEvent[] = [];
  const runtime = await world.runtime({ store: repeatStore(await world.open()) });
  runtime.subscribe((event) => events.push(event));
  await runtime.call(broken, {}, task);
  expect(events.filter(({ type }) => type === "breaker-opened")).toHaveLength(1);
});
