/** Workers as real processes: killed, stopped, drained. The effects are counted outside of them. */
import { createRuntime, type Runtime } from "toolwright";
import { expect, onTestFinished, test } from "vitest";
import { all } from "../../src/store/statement.ts";
import { hostOf } from "../../src/runtime/create-runtime.ts";
import { until } from "../semantics/harness.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import { openLedger } from "./ledger.ts";
import type { WorkerProcessInput } from "./programs/worker-process.ts";
import { startProcess, type WorkerProcess } from "./start-process.ts";

const LEASE_MS = 2_000;

async function isFinished(runtime: Runtime, runId: string): Promise<boolean> {
  const { status, why } = await runtime.describeRun(runId);
  if (status === "failed") throw new Error(why);
  return status === "finished";
}

/** Either of them may be the first to take the run. */
async function startTwo(
  input: WorkerProcessInput,
): Promise<(taker: number) => { readonly first: WorkerProcess; readonly second: WorkerProcess }> {
  const [one, other] = await Promise.all([startProcess(input), startProcess(input)]);
  return (taker) => (one.pid === taker ? { first: one, second: other } : { first: other, second: one });
}

for (const kind of STORE_KINDS) {
  const open = async (): Promise<{ store: string; runtime: Runtime }> => {
    const fresh = await kind.fresh();
    const runtime = createRuntime({ store: fresh.address });
    onTestFinished(async () => {
      await runtime.close();
      await fresh[Symbol.asyncDispose]();
    });
    await runtime.ready();
    return { store: fresh.address, runtime };
  };

  test(`rule 41: on ${kind.name}, another worker takes over from one that was killed, and repeats no effect`, async () => {
    const { store, runtime } = await open();
    const ledger = await openLedger();
    const held = ledger.hold("a", 1);
    const workers = await startTwo({ store, ledgerUrl: ledger.url, leaseMs: LEASE_MS });
    await runtime.enqueue("steps", { input: { steps: 3 }, runId: "a" });
    const { first, second } = workers((await held).pid);
    first.signal("SIGKILL");
    await until(() => isFinished(runtime, "a"));
    // The service has charged step 1 before the kill. The successor asked it again, with the same key.
    expect(ledger.effects()).toEqual({ "a 0": 1, "a 1": 1, "a 2": 1 });
    expect(ledger.requests.map(({ step, pid }) => [step, pid])).toEqual([
      [0, first.pid],
      [1, first.pid],
      [1, second.pid],
      [2, second.pid],
    ]);
  });

  test(`rule 41: on ${kind.name}, a worker that was stopped beyond its lease writes nothing when it wakes`, async () => {
    const { store, runtime } = await open();
    const ledger = await openLedger();
    const held = ledger.hold("a", 1);
    const workers = await startTwo({ store, ledgerUrl: ledger.url, leaseMs: LEASE_MS });
    await runtime.enqueue("steps", { input: { steps: 4 }, runId: "a" });
    const { answer, pid } = await held;
    const { first, second } = workers(pid);
    first.signal("SIGSTOP");
    await until(() => isFinished(runtime, "a"));
    const { store: opened } = await hostOf(runtime);
    const rows = async (): Promise<unknown> => ({
      tasks: await opened.read(() => all("SELECT * FROM toolwright_tasks ORDER BY node_id")),
      calls: await opened.read(() =>
        all(
          "SELECT key, attempt, status, output_json, finished_at_ms, owner_id FROM toolwright_calls ORDER BY key",
        ),
      ),
      run: await opened.read(() => all("SELECT status, epoch, owner_id FROM toolwright_workflow_runs")),
    });
    const before = await rows();
    const requests = ledger.requests.length;
    answer();
    first.signal("SIGCONT");
    first.signal("SIGTERM");
    // It drains: no part of its run is still running.
    await first.says("drained");
    expect(await rows()).toEqual(before);
    expect(ledger.requests.length).toBe(requests);
    expect(ledger.effects()).toEqual({ "a 0": 1, "a 1": 1, "a 2": 1, "a 3": 1 });
    expect(ledger.requests.at(-1)?.pid).toBe(second.pid);
  });

  test(`on ${kind.name}, a worker that drains finishes its call, and another one continues immediately`, async () => {
    const { store, runtime } = await open();
    const ledger = await openLedger();
    const held = ledger.hold("a", 1);
    const workers = await startTwo({ store, ledgerUrl: ledger.url, leaseMs: 60_000 });
    await runtime.enqueue("steps", { input: { steps: 3 }, runId: "a" });
    const { answer, pid } = await held;
    const { first, second } = workers(pid);
    first.signal("SIGTERM");
    const { store: opened } = await hostOf(runtime);
    await until(async () => {
      const [row] = await opened.read(() =>
        all("SELECT state FROM toolwright_workers WHERE state = 'draining'"),
      );
      return row !== undefined;
    });
    answer();
    expect(await first.ended).toBe(0);
    await until(() => isFinished(runtime, "a"));
    expect(ledger.requests.map(({ step, pid }) => [step, pid])).toEqual([
      [0, first.pid],
      [1, first.pid],
      [2, second.pid],
    ]);
  });
}
