/** Rules 8 and 11 for pure calls, whose rows may be stored in a single write. */
import { defineTool } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createWorld, never, sorted, times, until } from "./harness.ts";
import { createCharge } from "./tools.ts";

const task = { runId: "r1" };
const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it("rule 11: two runtimes that make one pure call concurrently agree on one recorded result", async () => {
  const world = await createWorld();
  let runs = 0;
  const roll = defineTool({
    name: "roll",
    schema: z.object({}),
    async execute() {
      runs += 1;
      const mine = runs;
      await later(10);
      return mine;
    },
  });
  const runtimes = [await world.runtime(), await world.runtime(), await world.runtime()];
  const outcomes = await Promise.all(runtimes.map((one) => one.call(roll, {}, task)));
  const values = outcomes.map((outcome) => outcome.status === "success" && outcome.output);
  const [row] = await world.log("r1");
  expect(await world.log("r1")).toHaveLength(1);
  expect(values).toEqual(times(3, JSON.parse(String(row?.["output_json"]))));
});

it("rule 23: a pure call around one that waits is pending too, and starts again", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge({ needsApproval: true });
  const outer = defineTool({
    name: "outer",
    schema: z.object({}),
    execute: async () => (await charge.execute({ amount: 1 })).id,
  });
  const runtime = await world.runtime();
  expect(await runtime.call(outer, {}, task)).toMatchObject({ status: "pending" });
  expect((await world.log("r1")).map((row) => [row["tool_name"], row["seq"], row["status"]])).toEqual([
    ["outer", 1, "pending"],
    ["charge", 2, "pending"],
  ]);
  const [approval] = await runtime.approvals();
  await runtime.resolveToolApproval(approval?.id ?? "", { approved: true });
  expect(await (await world.runtime()).call(outer, {}, task)).toMatchObject({ output: "ch_1" });
  expect(effects).toHaveLength(1);
});

it("rule 14: a pure call that was aborted while it ran is not replayed as finished", async () => {
  const world = await createWorld();
  const stop = new AbortController();
  let runs = 0;
  const read = defineTool({
    name: "read_it",
    schema: z.object({}),
    execute: () => ((runs += 1) === 1 ? never<number>() : runs),
  });
  const call = (await world.runtime()).call(read, {}, { ...task, signal: stop.signal });
  await until(() => runs === 1);
  stop.abort();
  expect(await call).toMatchObject({ status: "error", error: { code: "TOOL_ABORTED" } });
  expect(await (await world.runtime()).call(read, {}, task)).toMatchObject({ output: 2, replayed: false });
});

it("rule 15: a pure call returns no result if its attempt was replaced while it ran", async () => {
  const world = await createWorld();
  const answer = Promise.withResolvers<string>();
  let runs = 0;
  const read = defineTool({
    name: "read_it",
    schema: z.object({}),
    execute: () => ((runs += 1), answer.promise),
  });
  const { charge } = createCharge();
  const runtime = await world.runtime();
  const stale = runtime.call(read, {}, task);
  await until(() => runs === 1);
  await runtime.call(charge, { amount: 1 }, { ...task, attempt: 2 });
  answer.resolve("late");
  expect(await stale).toMatchObject({ status: "error", error: { code: "TOOL_ATTEMPT_STALE" } });
});

it("rule 8: seq is assigned in the order in which calls start, including pure ones, and equals ctx.seq", async () => {
  const world = await createWorld();
  const seen: [string, number][] = [];
  const make = (name: string, sideEffect: boolean, ms: number) =>
    defineTool({
      name,
      schema: z.object({}),
      sideEffect,
      async execute(_args, ctx) {
        seen.push([name, ctx.seq]);
        await later(ms);
        return ctx.idempotencyKey;
      },
    });
  const runtime = await world.runtime();
  await Promise.all(
    [make("a", false, 20), make("b", true, 5), make("c", false, 1)].map((tool) =>
      runtime.call(tool, {}, task),
    ),
  );
  const rows = (await world.log("r1")).map((row) => [row["tool_name"], row["seq"]]);
  expect(rows.map(([, seq]) => seq)).toEqual([1, 2, 3]);
  expect(sorted(rows)).toEqual(sorted(seen));
});
