/** Rules 5 and 17: a decision about an interrupted call under a business key binds every call that uses the key. */
import type { Outcome } from "toolwright";
import { expect, it } from "vitest";
import { createWorld, never, until, watchStore, type World } from "./harness.ts";
import { createBlindCharge, harmless } from "./tools.ts";

const args = { amount: 7 };

function idOf(outcome: Outcome): string {
  if (outcome.status !== "pending") throw new Error(`expected a pending call, got ${outcome.status}`);
  return outcome.approval.id;
}

/** The call of run "r1" dies in its effect; the runs "r2" and "r3" request approval for it. */
async function askedTwice(world: World) {
  const { charge, effects } = createBlindCharge({ idempotencyKey: () => "order-17" }, (count) =>
    count === 1 ? never() : undefined,
  );
  void (await world.runtime()).call(charge, args, { runId: "r1" }).catch(() => undefined);
  await until(() => effects.length === 1);
  await world.killAll();
  const runtime = await world.runtime();
  const call = (runId: string) => runtime.call(charge, args, { runId });
  const id = idOf(await call("r2"));
  expect(idOf(await call("r3"))).not.toBe(id);
  return { runtime, call, id, effects };
}

it.each([
  ["happened", { resolution: "happened", output: { id: "seen" } }, 1],
  ["run-again", { resolution: "run-again" }, 2],
] as const)(
  "rules 5 and 17: %s binds the other pending calls, whichever comes first",
  async (_name, answer, runs) => {
    const world = await createWorld();
    const { runtime, call, id, effects } = await askedTwice(world);
    await runtime.resolveToolApproval(id, answer);
    expect(await runtime.approvals({ status: "pending" })).toEqual([]);
    for (const runId of ["r3", "r2", "r1", "r4", "r3"])
      expect(await call(runId)).toMatchObject({ status: "success" });
    expect(effects).toHaveLength(runs);
    expect(await runtime.approvals({ status: "pending" })).toEqual([]);
  },
);

it("rule 5: a call that still waits gets the success of the call that ran again", async () => {
  const world = await createWorld();
  const { runtime, call, id, effects } = await askedTwice(world);
  await runtime.resolveToolApproval(id, { resolution: "run-again" });
  expect(await call("r2")).toMatchObject({ status: "success", replayed: false });
  for (const runId of ["r3", "r1"])
    expect(await call(runId)).toMatchObject({ status: "success", replayed: true });
  expect(effects).toHaveLength(2);
});

it("rule 17: give-up settles the call that requested it, and the other one still waits", async () => {
  const world = await createWorld();
  const { runtime, call, id, effects } = await askedTwice(world);
  await runtime.resolveToolApproval(id, { resolution: "give-up" });
  expect(await call("r2")).toMatchObject({ status: "denied" });
  expect(await call("r3")).toMatchObject({ status: "pending" });
  expect(effects).toHaveLength(1);
});

it.each([
  ["happened", { resolution: "happened", output: { id: "seen" } }, "success", 1],
  ["run-again", { resolution: "run-again" }, "success", 2],
  // It settles only the call that requested it: the other one requests its own.
  ["give-up", { resolution: "give-up" }, "pending", 1],
] as const)(
  "rule 5: %s about the interrupted call itself answers the others, although its run is not resumed",
  async (_name, answer, status, runs) => {
    for (const isWaiting of [false, true]) {
      const world = await createWorld();
      const { charge, effects } = createBlindCharge({ idempotencyKey: () => "order-17" }, (count) =>
        count === 1 ? never() : undefined,
      );
      void (await world.runtime()).call(charge, args, { runId: "r1" }).catch(() => undefined);
      await until(() => effects.length === 1);
      await world.killAll();
      const runtime = await world.runtime();
      const id = idOf(await runtime.call(charge, args, { runId: "r1" }));
      let reads = 0;
      const store = watchStore(await world.open(), { onRead: () => (reads += 1) });
      const other = await world.runtime({ store });
      const early = isWaiting ? other.call(charge, args, { runId: "r2" }) : undefined;
      // It keeps looking at the waiting call.
      if (isWaiting) await until(() => reads > 6);
      await runtime.resolveToolApproval(id, answer);
      expect(await (early ?? other.call(charge, args, { runId: "r2" }))).toMatchObject({ status });
      expect(effects).toHaveLength(runs);
      const first = await (await world.runtime()).call(charge, args, { runId: "r1" });
      expect(first.status).toBe(status === "pending" ? "denied" : "success");
      expect(effects).toHaveLength(runs);
    }
  },
);

it("rule 5: happened binds the key also if the answer is recorded in a later attempt, and the try says none", async () => {
  const world = await createWorld();
  const answer = Promise.withResolvers<never>();
  const { charge, effects } = createBlindCharge({ idempotencyKey: () => "order-17" }, () => answer.promise);
  const runtime = await world.runtime();
  const abort = new AbortController();
  const cut = runtime.call(charge, args, { runId: "r1", signal: abort.signal });
  await until(() => effects.length === 1);
  abort.abort();
  await cut;
  const second = { runId: "r1", attempt: 2 };
  const id = idOf(await runtime.call(charge, args, second));
  const output = { id: "seen" };
  await runtime.resolveToolApproval(id, { resolution: "happened", output });
  answer.reject(harmless("refused"));
  await until(async () => (await world.log("r1"))[0]?.["effect"] === "none");
  expect(await runtime.call(charge, args, second)).toMatchObject({ status: "success", output });
  expect(await runtime.call(charge, args, { runId: "r2" })).toMatchObject({ status: "success", output });
  expect(effects).toHaveLength(1);
});

it("rule 17: run-again applies once: a second interruption needs a new decision", async () => {
  const world = await createWorld();
  let isHanging = true;
  const { charge, effects } = createBlindCharge({ idempotencyKey: () => "order-17" }, () =>
    isHanging ? never() : undefined,
  );
  const die = async (runId: string, count: number) => {
    void (await world.runtime()).call(charge, args, { runId }).catch(() => undefined);
    await until(() => effects.length === count);
    await world.killAll();
  };
  await die("r1", 1);
  const runtime = await world.runtime();
  const id = idOf(await runtime.call(charge, args, { runId: "r2" }));
  await runtime.resolveToolApproval(id, { resolution: "run-again" });
  await die("r3", 2);
  isHanging = false;
  for (const runId of ["r4", "r2", "r1"])
    expect(await (await world.runtime()).call(charge, args, { runId })).toMatchObject({ status: "pending" });
  expect(effects).toHaveLength(2);
});

it("rule 5: a late success settles the key, even if the tool runs in each attempt", async () => {
  const world = await createWorld();
  const late = Promise.withResolvers<{ id: string }>();
  const policies = { idempotencyKey: () => "order-17", replay: "run", timeoutMs: 20 } as const;
  const { charge, effects } = createBlindCharge(policies, () => late.promise);
  const runtime = await world.runtime();
  expect(await runtime.call(charge, args, { runId: "r1" })).toMatchObject({ status: "error" });
  late.resolve({ id: "late" });
  await until(
    async () => (await world.rows("SELECT * FROM toolwright_calls WHERE effect = 'happened'")).length > 0,
  );
  expect(await runtime.call(charge, args, { runId: "r2", attempt: 2 })).toMatchObject({
    status: "success",
    output: { id: "late" },
  });
  expect(effects).toHaveLength(1);
});
