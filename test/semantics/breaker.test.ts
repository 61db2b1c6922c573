/** Rules 24 and 25: a circuit breaker stops calls of a tool that keeps failing. */
import { defineTool } from "toolwright";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { createClock, createWorld, sorted, times, until, watchStore } from "./harness.ts";

const task = { runId: "r1" };
const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function createFlaky(
  retry: object,
  behave: (n: number) => unknown = () => {
    throw new Error("down");
  },
) {
  const runs: number[] = [];
  const flaky = defineTool({
    name: "flaky",
    schema: z.object({ n: z.number() }),
    retry,
    async execute({ n }) {
      runs.push(n);
      return (await behave(n)) ?? "ok";
    },
  });
  return { flaky, runs };
}

function codes(outcomes: readonly { status: string; error?: { code: string } }[]): string[] {
  return outcomes.map((outcome) => outcome.error?.code ?? outcome.status);
}

describe("of a run", () => {
  it.each([
    ["at once", () => Promise.resolve()],
    ["after some work", () => later(5)],
  ])(
    "rule 25: six calls, two at a time, that fail %s under a breaker of two: two run",
    async (_when, work) => {
      const world = await createWorld();
      const { flaky, runs } = createFlaky({ circuitBreakerThreshold: 2 }, async () => {
        await work();
        throw new Error("down");
      });
      const runtime = await world.runtime({ limits: { maxParallelTools: 2 } });
      const outcomes = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => runtime.call(flaky, { n }, task)));
      // The store may answer six concurrent queries in any order, so which two run is not fixed.
      expect(sorted(codes(outcomes))).toEqual([
        ...times(4, "TOOL_CIRCUIT_OPEN"),
        ...times(2, "TOOL_EXECUTION_FAILED"),
      ]);
      expect(runs).toHaveLength(2);
      expect((await world.log("r1")).map((row) => [row["status"], row["tries"]])).toEqual([
        ["error", 1],
        ["error", 1],
        ...times(4, ["error", 0]),
      ]);
    },
  );

  it("rule 25: no call slips through while the failure of another is being stored, in twenty runs", async () => {
    const world = await createWorld();
    const { flaky } = createFlaky({ circuitBreakerThreshold: 2 });
    const runtime = await world.runtime({ limits: { maxParallelTools: 2 } });
    for (let run = 0; run < 20; run += 1) {
      const calls = [1, 2, 3, 4, 5, 6].map((n) => runtime.call(flaky, { n }, { runId: `r${run}` }));
      const ran = codes(await Promise.all(calls)).filter((code) => code === "TOOL_EXECUTION_FAILED");
      expect(ran).toHaveLength(2);
    }
  });

  it("rule 24: its state is in the store: it is open in a new runtime, and closed in another run", async () => {
    const world = await createWorld();
    const { flaky, runs } = createFlaky({ circuitBreakerThreshold: 2 });
    for (const n of [1, 2]) await (await world.runtime()).call(flaky, { n }, task);
    const third = await (await world.runtime()).call(flaky, { n: 3 }, task);
    const other = await (await world.runtime()).call(flaky, { n: 4 }, { runId: "r2" });
    expect(codes([third, other])).toEqual(["TOOL_CIRCUIT_OPEN", "TOOL_EXECUTION_FAILED"]);
    expect(runs).toEqual([1, 2, 4]);
  });

  it("rule 24: only consecutive failures count; replays, bad input and refusals do not", async () => {
    const world = await createWorld();
    const { flaky, runs } = createFlaky({ circuitBreakerThreshold: 2 }, (n) => {
      if (n !== 2) throw new Error("down");
    });
    await (await world.runtime()).call(flaky, { n: 1 }, task);
    const runtime = await world.runtime();
    for (const n of [1, "x", 2, 3]) await runtime.call(flaky, { n: n as number }, task);
    expect(codes([await runtime.call(flaky, { n: 4 }, task)])).toEqual(["TOOL_EXECUTION_FAILED"]);
    expect(codes([await runtime.call(flaky, { n: 5 }, task)])).toEqual(["TOOL_CIRCUIT_OPEN"]);
    expect(runs).toEqual([1, 2, 3, 4]);
  });

  it("rule 25: once open it stays open for the rest of the run, regardless of calls in flight", async () => {
    const world = await createWorld();
    const slow = Promise.withResolvers<string>();
    const { flaky, runs } = createFlaky({ circuitBreakerThreshold: 2 }, (n) => {
      if (n === 1) return slow.promise;
      throw new Error("down");
    });
    const runtime = await world.runtime();
    const first = runtime.call(flaky, { n: 1 }, task);
    await until(() => runs.length === 1);
    for (const n of [2, 3]) await runtime.call(flaky, { n }, task);
    slow.resolve("ok");
    expect(await first).toMatchObject({ status: "success", output: "ok" });
    expect(codes([await runtime.call(flaky, { n: 4 }, task)])).toEqual(["TOOL_CIRCUIT_OPEN"]);
    expect(runs).toEqual([1, 2, 3]);
  });

  it("rule 25: a call that waits for others keeps waiting after its process was suspended", async () => {
    const world = await createWorld();
    const gate = Promise.withResolvers<void>();
    const { flaky, runs } = createFlaky({ circuitBreakerThreshold: 2 }, async (n) => {
      if (n === 1) await gate.promise;
      throw new Error("down");
    });
    const real = performance.now.bind(performance);
    onTestFinished(() => void vi.restoreAllMocks());
    let looks = 0;
    const store = watchStore(await world.open(), {
      onStatement(sql) {
        if (!sql.includes("toolwright_breakers") || !sql.endsWith("{update}") || runs.length < 2) return;
        looks += 1;
        // After its first read five seconds pass at once; the call that it waits for fails a little later.
        if (looks === 2) vi.spyOn(performance, "now").mockImplementation(() => real() + 5_000);
        if (looks === 4) gate.resolve();
      },
    });
    const runtime = await world.runtime({ store });
    const first = runtime.call(flaky, { n: 1 }, task);
    await until(() => runs.length === 1);
    await runtime.call(flaky, { n: 2 }, task);
    expect(codes([await runtime.call(flaky, { n: 3 }, task)])).toEqual(["TOOL_CIRCUIT_OPEN"]);
    expect(codes([await first])).toEqual(["TOOL_EXECUTION_FAILED"]);
    expect(runs).toEqual([1, 2]);
  });

  it("rule 25: is checked again before each retry", async () => {
    const world = await createWorld();
    const clock = createClock();
    const { flaky, runs } = createFlaky({ circuitBreakerThreshold: 1, maxRetries: 3, backoffMs: 1_000 });
    const broken = createFlaky({ circuitBreakerThreshold: 1 });
    const runtime = await world.runtime({ clock });
    const call = runtime.call(flaky, { n: 1 }, task);
    await until(() => clock.sleeps.length === 1);
    await runtime.call(broken.flaky, { n: 2 }, task);
    await clock.advance(2_000);
    expect(await call).toMatchObject({ status: "error" });
    expect(runs).toEqual([1]);
  });

  it("rule 24: a stored result is returned while the breaker is open", async () => {
    const world = await createWorld();
    const { flaky, runs } = createFlaky({ circuitBreakerThreshold: 1 }, (n) => {
      if (n > 1) throw new Error("down");
    });
    const runtime = await world.runtime();
    await runtime.call(flaky, { n: 1 }, task);
    await runtime.call(flaky, { n: 2 }, task);
    expect(await (await world.runtime()).call(flaky, { n: 1 }, task)).toMatchObject({
      status: "success",
      replayed: true,
    });
    expect(runs).toEqual([1, 2]);
  });
});

describe("shared by all runs", () => {
  const shared = { circuitBreakerThreshold: 1, breaker: { scope: "shared", resetMs: 1_000 } };

  it("rule 25: is open for other runs and runtimes, and lets one probe through after resetMs", async () => {
    const world = await createWorld();
    const clock = createClock();
    const answer = Promise.withResolvers<string>();
    const { flaky, runs } = createFlaky(shared, (n) => {
      if (n === 1) throw new Error("down");
      return answer.promise;
    });
    const [one, other] = [await world.runtime({ clock }), await world.runtime({ clock })];
    await one.call(flaky, { n: 1 }, { runId: "r1" });
    expect(codes([await other.call(flaky, { n: 2 }, { runId: "r2" })])).toEqual(["TOOL_CIRCUIT_OPEN"]);
    await clock.advance(1_000);
    const probe = other.call(flaky, { n: 3 }, { runId: "r3" });
    await until(() => runs.length === 2);
    expect(codes([await one.call(flaky, { n: 4 }, { runId: "r4" })])).toEqual(["TOOL_CIRCUIT_OPEN"]);
    answer.resolve("ok");
    expect(await probe).toMatchObject({ status: "success" });
    expect(await one.call(flaky, { n: 5 }, { runId: "r5" })).toMatchObject({ status: "success" });
    expect(runs).toEqual([1, 3, 5]);
  });

  it("rule 25: of two probes at the same moment one runs", async () => {
    const world = await createWorld();
    const clock = createClock();
    // The probe lasts until the other call has its result: a shorter probe would close the breaker for it.
    const refused = Promise.withResolvers<void>();
    const { flaky, runs } = createFlaky(shared, async (n) => {
      if (n === 1) throw new Error("down");
      await refused.promise;
    });
    const [one, other] = [await world.runtime({ clock }), await world.runtime({ clock })];
    await one.call(flaky, { n: 1 }, task);
    await clock.advance(1_000);
    const calls = [one, other].map((runtime, n) => runtime.call(flaky, { n: n + 2 }, task));
    await Promise.race(calls);
    refused.resolve();
    const outcomes = await Promise.all(calls);
    expect(codes(outcomes).sort()).toEqual(["TOOL_CIRCUIT_OPEN", "success"]);
    expect(runs).toHaveLength(2);
  });

  it("rule 25: a probe that fails opens it for resetMs more", async () => {
    const world = await createWorld();
    const clock = createClock();
    const { flaky, runs } = createFlaky(shared);
    const runtime = await world.runtime({ clock });
    await runtime.call(flaky, { n: 1 }, task);
    await clock.advance(1_000);
    await runtime.call(flaky, { n: 2 }, task);
    await clock.advance(999);
    expect(codes([await runtime.call(flaky, { n: 3 }, task)])).toEqual(["TOOL_CIRCUIT_OPEN"]);
    await clock.advance(1);
    await runtime.call(flaky, { n: 4 }, task);
    expect(runs).toEqual([1, 2, 4]);
  });
});
