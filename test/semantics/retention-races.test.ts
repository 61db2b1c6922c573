/** Rules 5 and 30: retention alongside calls under business keys. A key whose call was deleted is never free again. */
import { expect, test } from "vitest";
import { defineTool, type Store } from "toolwright";
import { z } from "zod";
import { change } from "../../src/store/statement.ts";
import { createWorld, watchStore } from "./harness.ts";
import { createCharge } from "./tools.ts";

const key = { idempotencyKey: ({ amount }: { amount: number }) => `order-${amount}` };

/** The same store; `between` runs once, after the read that matches. */
function interrupting(store: Store, matches: string, between: () => Promise<unknown>): Store {
  let isDone = false;
  return {
    ...watchStore(store, {}),
    async read(work) {
      let isMatch = false;
      const result = await store.read(function* () {
        const inner = work();
        let step = inner.next();
        while (step.done !== true) {
          isMatch ||= step.value.sql.includes(matches);
          step = inner.next(yield step.value);
        }
        return step.value;
      });
      if (isMatch && !isDone) {
        isDone = true;
        await between();
      }
      return result;
    },
  };
}

test("rule 5: retention after the claim was read makes the call contended: one effect, and the next answer says so", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge(key, (count) => {
    // The key is not free: the first call failed, and it is in doubt.
    if (count === 1) throw Object.assign(new Error("nothing happened"), { effect: "none" });
  });
  await using first = await world.runtime();
  await first.call(charge, { amount: 1 }, { runId: "one" });
  await first.call(charge, { amount: 1 }, { runId: "two" });
  expect(effects).toHaveLength(2);
  const store = interrupting(await world.open(), "toolwright_claims", () => first.gc({ olderThanMs: 0 }));
  await using second = await world.runtime({ store });
  const outcome = await second.call(charge, { amount: 1 }, { runId: "three" });
  expect(["success", "error"]).toContain(outcome.status);
  expect(effects).toHaveLength(2);
  const again = await second.call(charge, { amount: 1 }, { runId: "four" });
  expect(again).toMatchObject({ status: "error", error: { code: "TOOL_RESULT_DELETED" } });
  expect(effects).toHaveLength(2);
});

test("rule 5: a key that is taken over while retention deletes its holder is refused, not free", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge(
    { ...key, reconcile: async () => ({ happened: false }), settleMs: 0 },
    (count) => {
      if (count === 1) throw new Error("lost");
    },
  );
  let now = 1_000;
  const clock = { now: () => now, sleep: () => Promise.resolve() };
  await using first = await world.runtime({ clock });
  await first.call(charge, { amount: 1 }, { runId: "one" });
  now += 10_000;
  const store = interrupting(await world.open(), "toolwright_claims", async () => {
    const { deletedRuns } = await first.gc({ olderThanMs: 1_000 });
    expect(deletedRuns).toBe(1);
  });
  await using second = await world.runtime({ store, clock });
  const outcome = await second.call(charge, { amount: 1 }, { runId: "two" });
  expect(outcome).toMatchObject({ status: "error", error: { code: "TOOL_RESULT_DELETED" } });
  expect(effects).toHaveLength(1);
});

test("rule 5: a claim whose call is missing is refused, never treated as free", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge(key);
  await using runtime = await world.runtime();
  await runtime.call(charge, { amount: 1 }, { runId: "one" });
  const store = await world.open();
  await store.transaction(() => change("DELETE FROM toolwright_calls"), "normal");
  const outcome = await runtime.call(charge, { amount: 1 }, { runId: "two" });
  expect(outcome).toMatchObject({ status: "error", error: { code: "TOOL_RESULT_DELETED" } });
  expect(effects).toHaveLength(1);
});

const long = defineTool({
  name: "long",
  schema: z.object({ id: z.string() }),
  sideEffect: true,
  idempotent: false,
  acceptsIdempotencyKey: true,
  idempotencyKey: ({ id }) => id,
  execute: async ({ id }) => `${id}${"x".repeat(3_000)}`,
});

test("rule 30: an output whose payload is gone is reported as deleted: the log's preview is not the output", async () => {
  const world = await createWorld();
  await using runtime = await world.runtime({ maxOutputBytes: 500 });
  const place = { runId: "one", callKey: "k" };
  const { key: callKey } = await runtime.call(long, { id: "a" }, place);
  const store = await world.open();
  await store.transaction(() => change("DELETE FROM toolwright_payloads"), "normal");
  const deleted = { status: "error", error: { code: "TOOL_RESULT_DELETED" } };
  await using other = await world.runtime({ maxOutputBytes: 500 });
  expect(await other.call(long, { id: "a" }, place)).toMatchObject(deleted);
  expect(await other.call(long, { id: "a" }, { runId: "two" })).toMatchObject(deleted);
  await expect(other.fullOutput(callKey ?? "")).rejects.toMatchObject({ code: "TOOL_RESULT_DELETED" });
});

test("an output that looks like a preview of the log is returned as it is", async () => {
  const world = await createWorld();
  const output = { truncated: true, bytes: 9_000, preview: "abc" };
  const odd = defineTool({
    name: "odd",
    schema: z.object({}),
    sideEffect: true,
    execute: async () => output,
  });
  const place = { runId: "one", callKey: "k" };
  await using runtime = await world.runtime();
  const { key: callKey } = await runtime.call(odd, {}, place);
  await using other = await world.runtime();
  expect(await other.call(odd, {}, place)).toMatchObject({ status: "success", output, replayed: true });
  expect(await other.fullOutput(callKey ?? "")).toEqual(output);
});

test(
  "rule 30: orders under business keys are placed once each while retention loops alongside them",
  { timeout: 60_000 },
  async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ ...key, timeoutMs: 20_000 });
    const runtimes = await Promise.all([1, 2, 3].map(() => world.runtime()));
    await using collector = await world.runtime();
    const over = new AbortController();
    const collecting = (async () => {
      while (!over.signal.aborted) await collector.gc({ olderThanMs: 0, replayOlderThanMs: 0 });
    })();
    const statuses = new Set<string>();
    for (let amount = 1; amount <= 60; amount += 1) {
      const outcomes = await Promise.all(
        runtimes.flatMap((runtime, number) =>
          [0, 1].map((again) =>
            runtime.call(charge, { amount }, { runId: `run-${amount}-${number}-${again}` }),
          ),
        ),
      );
      for (const outcome of outcomes)
        statuses.add(outcome.status === "error" ? (outcome.error?.code ?? "") : outcome.status);
    }
    over.abort();
    await collecting;
    expect(effects.map(({ amount }) => amount)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
    expect([...statuses].filter((status) => !["success", "TOOL_RESULT_DELETED"].includes(status))).toEqual(
      [],
    );
    for (const runtime of runtimes) await runtime[Symbol.asyncDispose]();
  },
);
