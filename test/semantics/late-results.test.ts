/** Rules 13 and 15: results that arrive after the caller stopped waiting, and calls of attempts that are over. */
import { defineTool } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { boundStore, createClock, createWorld, never, settle, sorted, until } from "./harness.ts";
import { createBlindCharge, createCharge, harmless } from "./tools.ts";

const task = { runId: "r1" };
const args = { amount: 7 };

describe("a result that comes late", () => {
  it("rule 13: is recorded, never used in its own attempt, and is the success of the next one", async () => {
    const world = await createWorld();
    const clock = createClock();
    const answer = Promise.withResolvers<{ id: string }>();
    const { charge, effects } = createCharge({ timeoutMs: 100 }, () => answer.promise);
    const runtime = await world.runtime({ clock });
    const call = runtime.call(charge, args, task);
    await until(() => effects.length === 1);
    await clock.advance(100);
    expect(await call).toMatchObject({ status: "error", error: { code: "TOOL_TIMEOUT" } });
    answer.resolve({ id: "ch_late" });
    await until(async () => (await world.log("r1"))[0]?.["effect"] === "happened");
    expect(await world.rows("SELECT status, output_json, late_json FROM toolwright_calls")).toEqual([
      { status: "error", output_json: null, late_json: '{"id":"ch_late"}' },
    ]);

    const resumed = await (await world.runtime({ clock })).call(charge, args, task);
    expect(resumed).toMatchObject({ status: "error", replayed: true, error: { code: "TOOL_TIMEOUT" } });
    const retried = await runtime.call(charge, args, { ...task, attempt: 2 });
    expect(retried).toMatchObject({ status: "success", output: { id: "ch_late" }, replayed: true });
    expect(effects).toHaveLength(1);
  });

  it("rule 13: a late failure leaves the call unknown for the next attempt", async () => {
    const world = await createWorld();
    const clock = createClock();
    const answer = Promise.withResolvers<{ id: string }>();
    const { charge, effects } = createCharge({ timeoutMs: 100, onUnknown: "fail" }, () => answer.promise);
    const runtime = await world.runtime({ clock });
    const call = runtime.call(charge, args, task);
    await until(() => effects.length === 1);
    await clock.advance(100);
    await call;
    answer.reject(new Error("socket closed"));
    await until(
      async () => (await world.rows("SELECT late_json FROM toolwright_calls"))[0]?.["late_json"] !== null,
    );
    const retried = await runtime.call(charge, args, { ...task, attempt: 2 });
    expect(retried).toMatchObject({ status: "error", error: { code: "TOOL_OUTCOME_UNKNOWN" } });
    expect(effects).toHaveLength(1);
  });

  it("rule 13: a late failure after a late success does not replace it", async () => {
    const world = await createWorld();
    const clock = createClock();
    const answers = [Promise.withResolvers<{ id: string }>(), Promise.withResolvers<{ id: string }>()];
    const { charge, effects } = createCharge(
      { timeoutMs: 100, retry: { maxRetries: 1, backoffMs: 0 } },
      (count) => answers[count - 1]?.promise,
    );
    const runtime = await world.runtime({ clock });
    let late = 0;
    runtime.subscribe(({ type }) => (late += type === "call-late" ? 1 : 0));
    const call = runtime.call(charge, args, task);
    await until(() => effects.length === 1);
    await clock.advance(100);
    await until(() => effects.length === 2);
    await clock.advance(100);
    expect(await call).toMatchObject({ status: "error", error: { code: "TOOL_TIMEOUT" } });
    answers[0]?.resolve({ id: "ch_late" });
    await until(async () => (await world.log("r1"))[0]?.["effect"] === "happened");
    answers[1]?.reject(new Error("duplicate key"));
    await until(() => late === 2);
    const retried = await runtime.call(charge, args, { ...task, attempt: 2 });
    expect(retried).toMatchObject({ status: "success", output: { id: "ch_late" }, replayed: true });
    expect(effects).toHaveLength(2);
  });

  it.each([
    ["fail", "fail", 2],
    ["fail", "fail", 3],
    // Another version of the tool asks.
    ["fail", "ask", 3],
  ] as const)(
    "rule 13: counts although attempt 2 received that the outcome is unknown (%s, then %s in attempt %i)",
    async (before, after, attempt) => {
      const world = await createWorld();
      const answer = Promise.withResolvers<{ id: string }>();
      const { charge, effects } = createBlindCharge({ onUnknown: before }, () => answer.promise);
      const abort = new AbortController();
      const cut = (await world.runtime()).call(charge, args, { ...task, signal: abort.signal });
      await until(() => effects.length === 1);
      abort.abort();
      await cut;
      expect(await (await world.runtime()).call(charge, args, { ...task, attempt: 2 })).toMatchObject({
        error: { code: "TOOL_OUTCOME_UNKNOWN" },
      });
      answer.resolve({ id: "ch_late" });
      await until(async () => (await world.log("r1"))[0]?.["effect"] === "happened");
      const runtime = await world.runtime({ store: boundStore(await world.open()) });
      const again = createBlindCharge({ onUnknown: after });
      expect(await runtime.call(again.charge, args, { ...task, attempt })).toMatchObject({
        status: "success",
        output: { id: "ch_late" },
        replayed: true,
      });
      expect(again.effects).toEqual([]);
    },
  );

  it("rule 13: counts although a limit refused the call in attempt 2", async () => {
    const world = await createWorld();
    const answer = Promise.withResolvers<{ id: string }>();
    const { charge, effects } = createCharge({ settleMs: 0 }, () => answer.promise);
    const abort = new AbortController();
    const runtime = await world.runtime();
    const cut = runtime.call(charge, args, { ...task, signal: abort.signal });
    await until(() => effects.length === 1);
    abort.abort();
    await cut;
    const limited = await world.runtime({ limits: { maxToolCalls: 0 } });
    expect(await limited.call(charge, args, { ...task, attempt: 2 })).toMatchObject({
      error: { code: "TOOL_LIMIT_EXCEEDED" },
    });
    answer.resolve({ id: "ch_late" });
    await until(async () => (await world.log("r1"))[0]?.["effect"] === "happened");
    expect(await runtime.call(charge, args, { ...task, attempt: 3 })).toMatchObject({
      status: "success",
      output: { id: "ch_late" },
      replayed: true,
    });
    expect(effects).toHaveLength(1);
  });

  describe("that proves no effect, while the call waits for an answer,", () => {
    /** A call that was cut off, whose request was answered while its try was still running. The try then has no effect. */
    async function answeredAtWork(attempt: number, decision?: object) {
      const world = await createWorld();
      const answer = Promise.withResolvers<never>();
      const { charge, effects } = createBlindCharge({}, (count) =>
        count === 1 ? answer.promise : count === 2 ? never() : undefined,
      );
      const runtime = await world.runtime();
      const abort = new AbortController();
      const cut = runtime.call(charge, args, { ...task, signal: abort.signal });
      await until(() => effects.length === 1);
      abort.abort();
      await cut;
      const pending = await runtime.call(charge, args, { ...task, attempt });
      if (pending.status !== "pending") throw new Error(pending.status);
      if (decision !== undefined) await runtime.resolveToolApproval(pending.approval.id, decision);
      answer.reject(harmless("refused"));
      await until(async () => (await world.log("r1"))[0]?.["effect"] === "none");
      return { world, charge, effects, again: { ...task, attempt } };
    }

    it.each([1, 2])("rule 13: lets it run without an answer (attempt %i)", async (attempt) => {
      const { world, charge, effects, again } = await answeredAtWork(attempt);
      const runtime = await world.runtime();
      void runtime.call(charge, args, again);
      await until(() => effects.length === 2);
      expect(await runtime.approvals({ status: "pending" })).toEqual([]);
    });

    it.each([1, 2])("rule 17: uses up the answer run-again (attempt %i)", async (attempt) => {
      const { world, charge, effects, again } = await answeredAtWork(attempt, { resolution: "run-again" });
      void (await world.runtime()).call(charge, args, again).catch(() => undefined);
      await until(() => effects.length === 2);
      await world.killAll();
      // The second try was interrupted too, and no one has been asked about that one.
      expect(await (await world.runtime()).call(charge, args, again)).toMatchObject({ status: "pending" });
      expect(effects).toHaveLength(2);
    });

    it.each([1, 2])("rule 17: does not overrule the other answers (attempt %i)", async (attempt) => {
      const gaveUp = await answeredAtWork(attempt, { resolution: "give-up" });
      const later = await gaveUp.world.runtime();
      expect(await later.call(gaveUp.charge, args, gaveUp.again)).toMatchObject({ status: "denied" });
      const output = { id: "ch_seen" };
      const seen = await answeredAtWork(attempt, { resolution: "happened", output });
      const outcome = await (await seen.world.runtime()).call(seen.charge, args, seen.again);
      expect(outcome).toMatchObject({ status: "success", output });
      expect([...gaveUp.effects, ...seen.effects]).toHaveLength(2);
    });
  });

  it("rule 5: a late failure of a first try does not settle the business key of a second try that succeeded", async () => {
    const world = await createWorld();
    const clock = createClock();
    const first = Promise.withResolvers<{ id: string }>();
    const { charge, effects } = createCharge(
      {
        timeoutMs: 100,
        retry: { maxRetries: 1, backoffMs: 0 },
        idempotencyKey: ({ amount }) => `order-${amount}`,
      },
      (count) => (count === 1 ? first.promise : undefined),
    );
    const runtime = await world.runtime({ clock });
    const call = runtime.call(charge, args, task);
    await until(() => effects.length === 1);
    await clock.advance(100);
    expect(await call).toMatchObject({ status: "success", output: { id: "ch_2" } });
    first.reject(new Error("socket closed"));
    await until(
      async () => (await world.rows("SELECT late_json FROM toolwright_calls"))[0]?.["late_json"] !== null,
    );
    const elsewhere = await runtime.call(charge, args, { runId: "r2" });
    expect(elsewhere).toMatchObject({ status: "success", output: { id: "ch_2" }, replayed: true });
  });

  it("rule 13: a late success that is stored redacted is still a success for the next attempt", async () => {
    const world = await createWorld();
    const clock = createClock();
    const answer = Promise.withResolvers<{ id: string; pin: number }>();
    let runs = 0;
    const issue = defineTool({
      name: "issue_card",
      schema: z.object({ amount: z.number() }),
      outputSchema: z.object({ id: z.string(), pin: z.number() }),
      redact: { output: ["pin"] },
      sideEffect: true,
      idempotent: false,
      timeoutMs: 100,
      execute: (_args, ctx) => ((runs += ctx.idempotencyKey === null ? 0 : 1), answer.promise),
    });
    const runtime = await world.runtime({ clock });
    const call = runtime.call(issue, args, task);
    await until(() => runs === 1);
    await clock.advance(100);
    await call;
    answer.resolve({ id: "card_1", pin: 4711471147114711 });
    await until(async () => (await world.log("r1"))[0]?.["effect"] === "happened");
    const retried = await runtime.call(issue, args, { ...task, attempt: 2 });
    expect(retried).toMatchObject({ status: "success", replayed: true, output: { id: "card_1" } });
    expect(await world.dump()).not.toContain("4711471147114711");
  });
});

describe("an attempt that has ended", () => {
  it("rule 15: cannot make further calls alongside its successor", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge();
    const runtime = await world.runtime();
    await runtime.call(charge, { amount: 1 }, { ...task, attempt: 1 });
    await runtime.call(charge, { amount: 2 }, { ...task, attempt: 2 });
    for (const origin of [runtime, await world.runtime()]) {
      const stale = await origin.call(charge, { amount: 3 }, { ...task, attempt: 1 });
      expect(stale).toMatchObject({ status: "error", error: { code: "TOOL_ATTEMPT_STALE" } });
    }
    expect(effects.map(({ amount }) => amount)).toEqual([1, 2]);
    expect(await world.log("r1")).toHaveLength(2);
  });

  it("rule 15: cannot continue inside runtime.run either, while the next attempt runs", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge();
    const runtime = await world.runtime();
    const replaced = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    const first = runtime.run({ ...task, attempt: 1 }, async () => {
      entered.resolve();
      await replaced.promise;
      return charge.execute({ amount: 1 });
    });
    await entered.promise;
    await runtime.run({ ...task, attempt: 2 }, async () => charge.execute({ amount: 2 }));
    replaced.resolve();
    await expect(first).rejects.toMatchObject({
      code: expect.stringMatching(/TOOL_(ATTEMPT_STALE|RUN_FENCED)/),
    });
    expect(effects.map(({ amount }) => amount)).toEqual([2]);
  });

  it("rule 15: cannot redeem an approval that arrived after its successor started", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ needsApproval: true });
    const other = createCharge().charge;
    const asking = await world.runtime();
    const pending = await asking.call(charge, args, task);
    if (pending.status !== "pending") throw new Error(pending.status);
    const stale = await world.runtime({ store: boundStore(await world.open()) });
    await stale.call(other, { amount: 1 }, { ...task, callKey: "opens the scope" });
    await asking.call(other, { amount: 2 }, { ...task, attempt: 2 });
    await asking.resolveToolApproval(pending.approval.id, { approved: true });
    expect(await stale.call(charge, args, task)).toMatchObject({
      status: "error",
      error: { code: "TOOL_ATTEMPT_STALE" },
    });
    expect(effects).toHaveLength(0);
  });

  it("rule 13: an equal call in flight is waited for, not made twice", async () => {
    const world = await createWorld();
    const answer = Promise.withResolvers<{ id: string }>();
    const { charge, effects } = createCharge({}, () => answer.promise);
    const calls = [
      (await world.runtime()).call(charge, args, task),
      (await world.runtime()).call(charge, args, task),
    ];
    await until(() => effects.length === 1);
    await settle();
    answer.resolve({ id: "ch_1" });
    const outcomes = await Promise.all(calls);
    expect(outcomes.map((outcome) => outcome.status === "success" && outcome.output)).toEqual([
      { id: "ch_1" },
      { id: "ch_1" },
    ]);
    expect(sorted(outcomes.map((outcome) => outcome.status === "success" && outcome.replayed))).toEqual([
      false,
      true,
    ]);
    expect(effects).toHaveLength(1);
    expect(await world.log("r1")).toHaveLength(1);
  });

  it("rule 26: an outcome of an owner that was declared dead is stored as late", async () => {
    const world = await createWorld();
    const answer = Promise.withResolvers<{ id: string }>();
    const { charge, effects } = createCharge({ onUnknown: "fail" }, () => answer.promise);
    const lost = (await world.runtime()).call(charge, args, task);
    await until(() => effects.length === 1);
    await world.killAll();
    await (await world.runtime()).call(charge, args, task);
    answer.resolve({ id: "ch_1" });
    await expect(lost).rejects.toMatchObject({ code: "TOOL_RUN_FENCED" });
    expect(await world.rows("SELECT status, effect, late_json FROM toolwright_calls")).toEqual([
      { status: "unknown", effect: "happened", late_json: '{"id":"ch_1"}' },
    ]);
    expect(await (await world.runtime()).call(charge, args, task)).toMatchObject({
      status: "success",
      output: { id: "ch_1" },
      replayed: true,
    });
  });
});
