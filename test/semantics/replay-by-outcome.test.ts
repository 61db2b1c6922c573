/** Rules 13 to 16: the result of an equal call depends on how the earlier call ended. */
import { defineTool } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createWorld } from "./harness.ts";
import { createCharge, harmless } from "./tools.ts";

const task = { runId: "r1" };

describe("an equal call in the same attempt, after a restart", () => {
  it("rule 13: gets the recorded success of every kind of tool and runs nothing", async () => {
    const world = await createWorld();
    for (const [name, flags] of Object.entries({
      pure: {},
      upsert: { sideEffect: true, idempotent: true },
      charge: { sideEffect: true, idempotent: false },
    })) {
      let runs = 0;
      const tool = defineTool({
        name,
        schema: z.object({}),
        ...flags,
        execute: (_args, ctx) => ({ run: (runs += 1), key: ctx.idempotencyKey }),
      });
      const first = await (await world.runtime()).call(tool, {}, task);
      const second = await (await world.runtime()).call(tool, {}, task);
      expect(first).toMatchObject({ status: "success", replayed: false });
      expect(second).toEqual({ ...first, replayed: true });
      expect(runs).toBe(1);
    }
  });

  it("rule 13: gets the recorded error, even if its effect is in doubt", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({}, () => {
      throw new Error("connection reset");
    });
    await (await world.runtime()).call(charge, { amount: 1 }, task);
    const second = await (await world.runtime()).call(charge, { amount: 1 }, task);
    expect(second).toMatchObject({
      status: "error",
      replayed: true,
      error: { code: "TOOL_EXECUTION_FAILED", message: "connection reset" },
    });
    expect(effects).toHaveLength(1);
    expect(await world.log("r1")).toMatchObject([{ status: "error", effect: null, tries: 1 }]);
  });
});

describe("an equal call in a later attempt", () => {
  it("rule 13: gets the recorded success of a non-idempotent side effect, in a row marked as replayed", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge();
    const runtime = await world.runtime();
    const first = await runtime.call(charge, { amount: 5 }, task);
    const second = await runtime.call(charge, { amount: 5 }, { ...task, attempt: 2 });
    expect(first).toMatchObject({ status: "success", output: { id: "ch_1" } });
    expect(second).toMatchObject({ status: "success", output: { id: "ch_1" }, replayed: true });
    expect(effects).toHaveLength(1);
    expect(await world.log("r1")).toMatchObject([
      { attempt: 1, status: "success", replayed: 0 },
      { attempt: 2, status: "success", replayed: 1, replayed_from: 1, output_json: '{"id":"ch_1"}' },
    ]);
  });

  it("rule 18: tells the model that the result is of an earlier attempt", async () => {
    const world = await createWorld();
    const { charge } = createCharge();
    const runtime = await world.runtime();
    await runtime.call(charge, { amount: 5 }, task);
    const second = await runtime.call(charge, { amount: 5 }, { ...task, attempt: 2 });
    const third = await runtime.call(charge, { amount: 5 }, { ...task, attempt: 3 });
    const note = "Done in attempt 1, not done now. To do it once more, call charge once more.";
    expect([second, third]).toMatchObject([{ note }, { note }]);
  });

  it("rule 13: runs again if the tool says replay: run, and always if it is pure", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ replay: "run" });
    let reads = 0;
    const read = defineTool({ name: "read_it", schema: z.object({}), execute: () => (reads += 1) });
    const runtime = await world.runtime();
    for (const attempt of [1, 2]) {
      await runtime.call(charge, { amount: 5 }, { ...task, attempt });
      await runtime.call(read, {}, { ...task, attempt });
    }
    expect(effects).toHaveLength(2);
    expect(reads).toBe(2);
  });

  it("rule 13: a pure tool that says replay: recorded is not run again", async () => {
    const world = await createWorld();
    let reads = 0;
    const read = defineTool({
      name: "read_it",
      schema: z.object({}),
      replay: "recorded",
      execute: () => (reads += 1),
    });
    const runtime = await world.runtime();
    await runtime.call(read, {}, task);
    const second = await runtime.call(read, {}, { ...task, attempt: 2 });
    expect(second).toMatchObject({ status: "success", output: 1, replayed: true });
    expect(reads).toBe(1);
  });

  it("rule 13: runs again after an error with effect none, with the same key", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({}, (count) => {
      if (count === 1) throw harmless("card declined");
    });
    const runtime = await world.runtime();
    const first = await runtime.call(charge, { amount: 5 }, task);
    const second = await runtime.call(charge, { amount: 5 }, { ...task, attempt: 2 });
    expect(first).toMatchObject({ status: "error", error: { effect: "none" } });
    expect(second).toMatchObject({ status: "success", output: { id: "ch_2" }, replayed: false });
    expect(effects[0]?.key).toBe(effects[1]?.key);
    expect(await world.log("r1")).toMatchObject([{ effect: "none" }, { effect: "happened" }]);
  });

  it("rule 13: an error that does not state its effect is unknown even if an earlier try stated none", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge(
      { retry: { maxRetries: 1, backoffMs: 0 }, onUnknown: "fail" },
      (count) => {
        throw count === 1 ? new Error("reset") : harmless("declined");
      },
    );
    const runtime = await world.runtime();
    await runtime.call(charge, { amount: 5 }, task);
    const second = await runtime.call(charge, { amount: 5 }, { ...task, attempt: 2 });
    expect(effects).toHaveLength(2);
    expect(second).toMatchObject({ status: "error", error: { code: "TOOL_OUTCOME_UNKNOWN" } });
  });

  it("rule 13: a refusal before execute is a plain error, and the call runs in the next attempt", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ maxExecutionsPerRun: 0 });
    const allowed = createCharge();
    const runtime = await world.runtime();
    const refused = await runtime.call(charge, { amount: 5 }, task);
    const second = await runtime.call(allowed.charge, { amount: 5 }, { ...task, attempt: 2 });
    expect(refused).toMatchObject({ status: "error", error: { code: "TOOL_LIMIT_EXCEEDED" } });
    expect(second).toMatchObject({ status: "success", output: { id: "ch_1" }, replayed: false });
    expect([effects.length, allowed.effects.length]).toEqual([0, 1]);
    expect(await world.log("r1")).toMatchObject([
      { status: "error", effect: "none", tries: 0 },
      { status: "success" },
    ]);
  });

  it("rule 13: an inner call's effect: none does not apply to the enclosing call, which has charged by then", async () => {
    const world = await createWorld();
    let charged = 0;
    const inner = defineTool({ name: "inner", schema: z.object({ n: z.number() }), execute: () => "ok" });
    const outer = defineTool({
      name: "outer",
      schema: z.object({}),
      sideEffect: true,
      idempotent: false,
      onUnknown: "fail",
      async execute(_args, ctx) {
        charged += ctx.idempotencyKey === null ? 0 : 1;
        return inner.execute(JSON.parse('{"n":"not a number"}') as { n: number });
      },
    });
    const runtime = await world.runtime();
    const first = await runtime.call(outer, {}, task);
    const second = await runtime.call(outer, {}, { ...task, attempt: 2 });
    expect(first).toMatchObject({ status: "error" });
    expect(second).toMatchObject({ status: "error", error: { code: "TOOL_OUTCOME_UNKNOWN" } });
    expect(charged).toBe(1);
  });
});

describe("an output that does not match its schema", () => {
  it("rule 13: has happened: the equal call of a later attempt does not run it again", async () => {
    const world = await createWorld();
    let effects = 0;
    const make = (outputSchema: z.ZodType) =>
      defineTool({
        name: "order",
        schema: z.object({}),
        outputSchema,
        sideEffect: true,
        idempotent: false,
        execute: (_args, ctx) => ({ id: (effects += 1), key: ctx.idempotencyKey }),
      });
    const runtime = await world.runtime();
    const wrong = make(z.object({ id: z.string() }));
    const first = await runtime.call(wrong, {}, task);
    const again = await runtime.call(wrong, {}, { ...task, attempt: 2 });
    const corrected = await runtime.call(make(z.object({ id: z.number() })), {}, { ...task, attempt: 3 });
    expect(first).toMatchObject({ status: "error", error: { code: "TOOL_OUTPUT_INVALID" } });
    expect(again).toMatchObject({ status: "error", error: { code: "TOOL_OUTPUT_INVALID" } });
    expect(corrected).toMatchObject({ status: "success", output: { id: 1 }, replayed: true });
    expect(effects).toBe(1);
  });

  it("rule 13: is not retried either", async () => {
    const world = await createWorld();
    let effects = 0;
    const order = defineTool({
      name: "order",
      schema: z.object({}),
      outputSchema: z.custom<string>((value) => typeof value === "string"),
      retry: { maxRetries: 3, backoffMs: 0 },
      sideEffect: true,
      idempotent: true,
      execute: () => (effects += 1) as unknown as string,
    });
    await (await world.runtime()).call(order, {}, task);
    expect(effects).toBe(1);
    expect(await world.log("r1")).toMatchObject([{ status: "error", effect: "happened", tries: 1 }]);
  });

  it("rule 13: an output that cannot be stored has happened too", async () => {
    const world = await createWorld();
    let effects = 0;
    const order = defineTool({
      name: "order",
      schema: z.object({}),
      sideEffect: true,
      idempotent: false,
      execute(_args, ctx) {
        effects += 1;
        const circular: Record<string, unknown> = { key: ctx.idempotencyKey };
        circular["self"] = circular;
        return circular;
      },
    });
    const runtime = await world.runtime();
    const first = await runtime.call(order, {}, task);
    await runtime.call(order, {}, { ...task, attempt: 2 });
    expect(first).toMatchObject({ status: "error", error: { code: "TOOL_OUTPUT_INVALID" } });
    expect(effects).toBe(1);
  });
});
