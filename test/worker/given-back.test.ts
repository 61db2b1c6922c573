/** A run that its worker has given back, while its program still runs: the program can no longer end the run. */
import { once } from "node:events";
import { createRuntime, createWorker, type ProgramJob, type Store, ToolwrightError } from "toolwright";
import { expect, test } from "vitest";
import { RunRelease } from "../../src/invoke/run-release.ts";
import { hostOf } from "../../src/runtime/create-runtime.ts";
import { Ownership } from "../../src/runtime/ownership.ts";
import { openStore } from "../../src/store/open-store.ts";
import { runProgram } from "../../src/worker/claim-program.ts";
import type { Program } from "../../src/worker/options.ts";
import { until } from "../semantics/harness.ts";
import { STORE_KINDS } from "../store-kinds.ts";

test.each(STORE_KINDS)(
  "on $name, a program cannot open its run after the worker has given it back",
  async (kind) => {
    await using fresh = await kind.fresh();
    await using operator = createRuntime({ store: fresh.address });
    const isQueued = async (): Promise<boolean> => (await operator.describeRun("a")).status === "queued";
    const started = Promise.withResolvers<void>();
    const late = Promise.withResolvers<unknown>();
    const slow = async ({ runId, signal, runtime }: ProgramJob): Promise<void> => {
      started.resolve();
      await once(signal, "abort");
      await until(isQueued);
      const fail = (): never => {
        throw new Error("aborted");
      };
      await runtime.run({ runId }, fail).catch(late.resolve);
    };
    await using first = createRuntime({ store: fresh.address });
    const worker = createWorker({ runtime: first, programs: { slow }, drainMs: 0 });
    await worker.start();
    await operator.enqueue("slow", { runId: "a" });
    await started.promise;
    const drained = worker.drain();
    expect(await late.promise).toMatchObject({ code: "TOOL_RUN_FENCED" });
    await drained;
    expect(await isQueued()).toBe(true);
    await using second = createRuntime({ store: fresh.address });
    await using next = createWorker({ runtime: second, programs: { slow: () => "done" } });
    await next.start();
    await until(async () => (await operator.describeRun("a")).status === "finished");
  },
);

test("a worker takes a run again only when its program has returned, and an aborted agent does not fail it", async () => {
  await using fresh = await STORE_KINDS[0].fresh();
  await using runtime = createRuntime({ store: fresh.address });
  await runtime.enqueue("slow", { runId: "a", kind: "program" });
  const host = await hostOf(runtime);
  const drive = (release: RunRelease, program: Program): Promise<"ended" | "lost"> =>
    runProgram({ host, runtime, runId: "a", program, release, onClaimed: () => undefined });
  const lost = new ToolwrightError("TOOL_RUN_FENCED", "The lease is over.");
  const release = new RunRelease();
  const returns = Promise.withResolvers<void>();
  const first = drive(release, () => returns.promise);
  await until(async () => (await runtime.describeRun("a")).status === "running");
  release.now(lost);
  expect(await first).toBe("ended");
  expect(await drive(new RunRelease(), () => "done")).toBe("lost");
  returns.resolve();
  await until(async () => !host.claimed.has("a"));
  const aborted = new ToolwrightError("TOOL_ABORTED", "The agent was aborted.", { cause: lost });
  expect(await drive(new RunRelease(), () => Promise.reject(aborted))).toBe("ended");
  expect((await runtime.describeRun("a")).status).toBe("queued");
  expect(await drive(new RunRelease(), () => "done")).toBe("ended");
  expect((await runtime.describeRun("a")).status).toBe("finished");
});

/** The same store. The first ready run that it shows is held back until `gate` resolves, so that another worker takes it. */
async function holdFirstFind(address: string, gate: Promise<void>) {
  const store = await openStore(address);
  const found = Promise.withResolvers<void>();
  const lookedAgain = Promise.withResolvers<void>();
  let isHeld = false;
  const read: Store["read"] = async (work) => {
    let isQueue = false;
    let hasFound = false;
    const result = await store.read(function* () {
      const inner = work();
      let step = inner.next();
      while (step.done !== true) {
        const answer = yield step.value;
        isQueue = step.value.sql.includes("AS waited_ms");
        hasFound ||= isQueue && answer.rows.length > 0;
        step = inner.next(answer);
      }
      return step.value;
    });
    if (isHeld && isQueue) lookedAgain.resolve();
    if (hasFound && !isHeld) {
      isHeld = true;
      found.resolve();
      await gate;
    }
    return result;
  };
  const transaction: Store["transaction"] = (...args) => store.transaction(...args);
  const { dialect, secret, connectionString } = store;
  const close = (): Promise<void> => store.close();
  return {
    store: { dialect, secret, connectionString, read, transaction, close } satisfies Store,
    found: found.promise,
    lookedAgain: lookedAgain.promise,
  };
}

test("a worker that lost the claim of a run takes it when the winner gives it back right after", async () => {
  // On SQLite any commit wakes the workers, such as a heartbeat.
  await using fresh = await STORE_KINDS[1].fresh();
  const gate = Promise.withResolvers<void>();
  const { store, found, lookedAgain } = await holdFirstFind(fresh.address, gate.promise);
  await using operator = createRuntime({ store: fresh.address });
  const started = Promise.withResolvers<void>();
  const slow = async ({ signal }: ProgramJob): Promise<void> => {
    started.resolve();
    await once(signal, "abort");
  };
  // Nothing but a wake-up shows it the run: the next sweep comes after most of the lease.
  await using late = createRuntime({ store });
  await using loser = createWorker({ runtime: late, programs: { slow: () => "done" }, leaseMs: 60_000 });
  await loser.start();
  await operator.enqueue("slow", { runId: "a" });
  await found;
  await using early = createRuntime({ store: fresh.address });
  const winner = createWorker({ runtime: early, programs: { slow }, drainMs: 0 });
  await winner.start();
  await started.promise;
  gate.resolve();
  // It has lost the claim.
  await lookedAgain;
  await until(() => loser.status().running.length === 0);
  await winner.drain();
  await until(async () => (await operator.describeRun("a")).status === "finished");
  expect(loser.status().claimed).toBe(1);
  await late[Symbol.asyncDispose]();
  await store.close();
});

test("rule 41: a worker that has lost its lease once notices the next loss too", async () => {
  const ownership = new Ownership(() => Promise.resolve());
  const twice = Promise.withResolvers<void>();
  let losses = 0;
  const watch = (): void => {
    const listen = (): void => {
      losses += 1;
      if (losses === 2) twice.resolve();
      else watch();
    };
    ownership.lostSignal().addEventListener("abort", listen, { once: true });
  };
  watch();
  // A lease that is over when it begins, and is renewed repeatedly.
  await ownership.becomeWorker(-1);
  await twice.promise;
  ownership.stop(false);
});
