/** Rules 26 and 27: which owners are alive, and what a process may still do after its lease has expired. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { createRuntime } from "toolwright";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { change } from "../../src/store/statement.ts";
import { createWorld, until, type World } from "./harness.ts";
import { createBlindCharge, createCharge, harmless } from "./tools.ts";

const task = { runId: "r1" };
const args = { amount: 7 };

/** Suspends the process for a minute: its timers have not fired, and its lease has expired. */
function sleepForAMinute(): void {
  const monotonic = performance.now.bind(performance);
  const spy = vi.spyOn(performance, "now").mockImplementation(() => monotonic() + 60_000);
  onTestFinished(() => spy.mockRestore());
}

async function takeOver(world: World): Promise<void> {
  const store = await world.open();
  await store.transaction(
    () => change("UPDATE toolwright_calls SET status = 'unknown' WHERE status = 'started'"),
    "normal",
  );
}

describe("a process that was stopped for longer than its lease", () => {
  it.each([
    ["by a takeover of the call, runs nothing", true],
    ["with no other process there, continues", false],
  ])("before execute, and woken %s", async (_name, isTakenOver) => {
    const world = await createWorld();
    const { charge, effects } = createBlindCharge();
    const capabilities = async () => {
      sleepForAMinute();
      if (isTakenOver) await takeOver(world);
      return {};
    };
    const call = (await world.runtime({ capabilities })).call(charge, args, task);
    if (isTakenOver) await expect(call).rejects.toMatchObject({ code: "TOOL_RUN_FENCED" });
    else expect(await call).toMatchObject({ status: "success" });
    expect(effects).toHaveLength(isTakenOver ? 0 : 1);
  });

  it.each([
    ["runs nothing after a takeover", true],
    ["has the effect if there is no other process", false],
  ])("in the wait before a retry %s", async (_name, isTakenOver) => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ retry: { maxRetries: 1, backoffMs: 1 } }, async (count) => {
      if (count > 1) return undefined;
      sleepForAMinute();
      if (isTakenOver) await takeOver(world);
      throw harmless("not now");
    });
    const runtime = await world.runtime();
    const call = runtime.call(charge, args, task);
    if (isTakenOver) await expect(call).rejects.toMatchObject({ code: "TOOL_RUN_FENCED" });
    else expect(await call).toMatchObject({ status: "success" });
    expect(effects).toHaveLength(isTakenOver ? 1 : 2);
    if (isTakenOver) expect(await world.log("r1")).toMatchObject([{ status: "unknown" }]);
  });

  it("runs nothing after a takeover in the wait before a retry, even if it has not noticed that its lease expired", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ retry: { maxRetries: 1, backoffMs: 1 } }, async () => {
      await takeOver(world);
      throw harmless("not now");
    });
    await expect((await world.runtime()).call(charge, args, task)).rejects.toMatchObject({
      code: "TOOL_RUN_FENCED",
    });
    expect(effects).toHaveLength(1);
  });

  it("registers again when retention has deleted its row, and is alive to others", async () => {
    const world = await createWorld();
    const answer = Promise.withResolvers<{ id: string }>();
    const { charge, effects } = createCharge({ timeoutMs: 50 }, (count) =>
      count === 2 ? answer.promise : undefined,
    );
    const runtime = await world.runtime();
    await runtime.call(charge, args, { runId: "first" });
    const store = await world.open();
    await store.transaction(() => change("DELETE FROM toolwright_owners"), "normal");
    sleepForAMinute();
    await runtime.call(charge, args, { runId: "second" });
    const owners = await world.rows("SELECT COUNT(*) AS n FROM toolwright_owners");
    expect(owners).toEqual([{ n: 1 }]);
    expect(effects).toHaveLength(2);
  });
});

it("rule 27: an owner in another thread of this process is not taken over while its lease holds", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "toolwright-")), "store.db");
  const worker = new Worker(new URL("programs/charging-thread.ts", import.meta.url), {
    workerData: { file },
    execArgv: [],
  });
  onTestFinished(() => void worker.terminate());
  const began = await new Promise<string>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
  expect(began).toBe("charging");
  await using runtime = createRuntime({ store: file });
  const { charge, effects } = createBlindCharge({ timeoutMs: 300 });
  const outcome = await runtime.call(charge, args, { ...task, callKey: "one" });
  expect(outcome).toMatchObject({ status: "error", error: { code: "TOOL_TIMEOUT" } });
  expect(effects).toEqual([]);
});

describe("a call that was cut off stays in flight until its execute has settled", () => {
  const reconciling = (answers: unknown[], happened: () => boolean) => ({
    settleMs: 0,
    reconcile: () => {
      answers.push(happened());
      return happened()
        ? ({ happened: true, output: { id: "ch_1" } } as const)
        : ({ happened: false } as const);
    },
  });

  it("so reconcile does not run before, in the same process", async () => {
    const world = await createWorld();
    const answer = Promise.withResolvers<undefined>();
    const asked: unknown[] = [];
    let effects = 0;
    const { charge } = createBlindCharge(
      reconciling(asked, () => effects > 0),
      async () => {
        await answer.promise;
        effects += 1;
      },
    );
    const runtime = await world.runtime();
    const abort = new AbortController();
    const cut = runtime.call(charge, args, { ...task, signal: abort.signal });
    await until(async () => (await world.log("r1")).length === 1);
    abort.abort();
    await cut;
    const again = runtime.call(charge, args, task);
    answer.resolve(undefined);
    expect(await again).toMatchObject({ status: "success" });
    expect(effects).toBe(1);
    expect(asked).not.toContain(false);
  });

  it("so reconcile does not run before, in another runtime", async () => {
    const world = await createWorld();
    const answer = Promise.withResolvers<undefined>();
    const asked: unknown[] = [];
    let effects = 0;
    const { charge } = createBlindCharge(
      reconciling(asked, () => effects > 0),
      async () => {
        await answer.promise;
        effects += 1;
      },
    );
    const runtime = await world.runtime();
    const abort = new AbortController();
    const cut = runtime.call(charge, args, { ...task, signal: abort.signal });
    await until(async () => (await world.log("r1")).length === 1);
    abort.abort();
    await cut;
    expect(await world.rows("SELECT status, executing FROM toolwright_calls")).toEqual([
      { status: "unknown", executing: 1 },
    ]);
    const again = (await world.runtime()).call(charge, args, task);
    answer.resolve(undefined);
    expect(await again).toMatchObject({ status: "success" });
    expect(effects).toBe(1);
  });

  it("and a late success settles the call while it waits for approval", async () => {
    const world = await createWorld();
    const answer = Promise.withResolvers<{ id: string }>();
    const { charge, effects } = createBlindCharge({}, () => answer.promise);
    const runtime = await world.runtime();
    const abort = new AbortController();
    const cut = runtime.call(charge, args, { ...task, signal: abort.signal });
    await until(() => effects.length === 1);
    abort.abort();
    await cut;
    const pending = await runtime.call(charge, args, task);
    expect(pending).toMatchObject({ status: "pending" });
    answer.resolve({ id: "ch_late" });
    await until(async () => (await world.log("r1"))[0]?.["effect"] === "happened");
    expect(await runtime.call(charge, args, task)).toMatchObject({
      status: "success",
      output: { id: "ch_late" },
      replayed: true,
    });
    expect(await runtime.approvals({ status: "pending" })).toEqual([]);
    expect(effects).toHaveLength(1);
  });

  it("and a late success counts although the approver chose run-again", async () => {
    const world = await createWorld();
    const answer = Promise.withResolvers<{ id: string }>();
    const { charge, effects } = createBlindCharge({}, () => answer.promise);
    const runtime = await world.runtime();
    const abort = new AbortController();
    const cut = runtime.call(charge, args, { ...task, signal: abort.signal });
    await until(() => effects.length === 1);
    abort.abort();
    await cut;
    const pending = await runtime.call(charge, args, task);
    if (pending.status !== "pending") throw new Error(pending.status);
    await runtime.resolveToolApproval(pending.approval.id, { resolution: "run-again" });
    const again = runtime.call(charge, args, task);
    answer.resolve({ id: "ch_late" });
    expect(await again).toMatchObject({ status: "success", output: { id: "ch_late" } });
    expect(effects).toHaveLength(1);
  });
});

it("rule 14: the next attempt waits for a try that was cut off too", async () => {
  const world = await createWorld();
  const answer = Promise.withResolvers<{ id: string }>();
  const { charge, effects } = createBlindCharge({}, () => answer.promise);
  const runtime = await world.runtime();
  const abort = new AbortController();
  const cut = runtime.call(charge, args, { ...task, signal: abort.signal });
  await until(() => effects.length === 1);
  abort.abort();
  await cut;
  const pending = await runtime.call(charge, args, task);
  if (pending.status !== "pending") throw new Error(pending.status);
  await runtime.resolveToolApproval(pending.approval.id, { resolution: "run-again" });
  const next = runtime.call(charge, args, { ...task, attempt: 2 });
  answer.resolve({ id: "ch_late" });
  expect(await next).toMatchObject({ status: "success", output: { id: "ch_late" } });
  expect(effects).toHaveLength(1);
});

it("rule 17: a decision made while the try was still running is requested again once the try has failed", async () => {
  const world = await createWorld();
  const answer = Promise.withResolvers<never>();
  const { charge, effects } = createBlindCharge({}, () => answer.promise);
  const runtime = await world.runtime();
  const abort = new AbortController();
  const cut = runtime.call(charge, args, { ...task, signal: abort.signal });
  await until(() => effects.length === 1);
  abort.abort();
  await cut;
  const pending = await runtime.call(charge, args, task);
  if (pending.status !== "pending") throw new Error(pending.status);
  await runtime.resolveToolApproval(pending.approval.id, { resolution: "run-again" });
  const again = runtime.call(charge, args, task);
  answer.reject(new Error("failed after it had happened"));
  expect(await again).toMatchObject({ status: "pending" });
  expect(effects).toHaveLength(1);
});

it.each([0, -60_000])(
  "rule 17: a decision on a request that was made after the try had settled counts, on a clock %i ms off",
  async (offMs) => {
    const world = await createWorld();
    const answer = Promise.withResolvers<never>();
    const { charge, effects } = createBlindCharge({}, (count) => (count === 1 ? answer.promise : undefined));
    // Both clocks stand still: the try settles and the decision is made in one millisecond.
    const clockAt = (ms: number) => ({ now: () => ms, sleep: () => new Promise<void>(() => undefined) });
    const runtime = await world.runtime({ clock: clockAt(1_000_000) });
    const abort = new AbortController();
    const cut = runtime.call(charge, args, { ...task, signal: abort.signal });
    await until(() => effects.length === 1);
    abort.abort();
    await cut;
    answer.reject(new Error("failed after it had happened"));
    await until(
      async () => (await world.rows("SELECT executing FROM toolwright_calls"))[0]?.["executing"] === 0,
    );
    const pending = await runtime.call(charge, args, { ...task, attempt: 2 });
    if (pending.status !== "pending") throw new Error(pending.status);
    const operator = await world.runtime({ clock: clockAt(1_000_000 + offMs) });
    await operator.resolveToolApproval(pending.approval.id, { resolution: "run-again" });
    expect(await runtime.call(charge, args, { ...task, attempt: 2 })).toMatchObject({ status: "success" });
    expect(effects).toHaveLength(2);
  },
);

it("rule 17: a call does not run again alongside a cut-off try that does not settle, regardless of the decision", async () => {
  const world = await createWorld();
  const { charge, effects } = createBlindCharge({ timeoutMs: 100 }, () => new Promise(() => undefined));
  const runtime = await world.runtime();
  const abort = new AbortController();
  const cut = runtime.call(charge, args, { ...task, signal: abort.signal });
  await until(() => effects.length === 1);
  abort.abort();
  await cut;
  for (const other of [runtime, await world.runtime()]) {
    const pending = await other.call(charge, args, { ...task, attempt: 2 });
    if (pending.status === "pending")
      await other.resolveToolApproval(pending.approval.id, { resolution: "run-again" });
    const again = await other.call(charge, args, { ...task, attempt: 3 });
    expect(again).toMatchObject({ status: "error", error: { code: "TOOL_TIMEOUT", effect: "none" } });
  }
  expect(effects).toHaveLength(1);
});
