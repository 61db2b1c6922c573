/** A worker, and a program of its own process that resumes the same run at the same time. */
import {
  createRuntime,
  createSmartAgent,
  createWorker,
  defineTool,
  type ProgramJob,
  type Runtime,
  type Worker,
} from "toolwright";
import { createScriptedModel } from "toolwright/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { openStore } from "../../src/store/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import { until } from "../semantics/harness.ts";
import { STORE_KINDS } from "../store-kinds.ts";

const GO = { messages: [{ role: "user" as const, content: "Go." }] };

interface Gate {
  readonly reached: Promise<void>;
  readonly open: () => void;
  /** Says that it was reached, and waits until it is opened. */
  pass(): Promise<void>;
}

function createGate(): Gate {
  const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const pass = async (): Promise<void> => {
    reached.resolve();
    await opened.promise;
  };
  onTestFinished(() => opened.resolve());
  return { reached: reached.promise, open: () => opened.resolve(), pass };
}

/** A tool whose calls wait at the gate. */
function createPay(gate: Gate, needsApproval = false) {
  const paid: number[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays",
    schema: z.object({ cents: z.number() }),
    sideEffect: true,
    needsApproval,
    execute: async ({ cents }, _ctx) => {
      paid.push(cents);
      await gate.pass();
      return cents;
    },
  });
  const agentOn = (runtime: Runtime) =>
    createSmartAgent({
      name: "cashier",
      model: createScriptedModel([[{ toolName: "pay", input: { cents: 5 } }], "Paid."]),
      tools: [pay],
      runtime,
    });
  return { pay, paid, agentOn };
}

/** Holds each list of ready runs back, once it is read, until the gate opens. */
function withStaleLists(store: Store, gate: Gate): Store {
  const read = store.read.bind(store);
  return Object.assign(store, {
    read: async <T>(work: Parameters<typeof read<T>>[0]): Promise<T> => {
      let isList = false;
      const result = await read(function* () {
        const inner = work();
        let step = inner.next();
        while (step.done !== true) {
          isList ||= step.value.sql.includes("r.is_due = 1");
          step = inner.next(yield step.value);
        }
        return step.value;
      });
      if (isList && Array.isArray(result) && result.length > 0) await gate.pass();
      return result;
    },
  });
}

describe.each(STORE_KINDS)("on $name", ({ fresh }) => {
  const open = async (wrap = (store: Store): Store => store) => {
    const at = await fresh();
    onTestFinished(() => at[Symbol.asyncDispose]());
    const store = await openStore(at.address);
    onTestFinished(() => store.close());
    const runtime = createRuntime({ store: wrap(store) });
    onTestFinished(() => runtime.close());
    const second = createRuntime({ store: at.address });
    onTestFinished(() => second.close());
    return { runtime, second };
  };

  const start = async (options: Parameters<typeof createWorker>[0]): Promise<Worker> => {
    const worker = createWorker(options);
    await worker.start();
    onTestFinished(() => worker.drain());
    return worker;
  };

  /** The worker has claimed the run, but its program has not opened it when another one does: the worker's is refused. */
  const claimThenOpen = async (runtime: Runtime, other: Runtime) => {
    const [beforeOpen, inPay] = [createGate(), createGate()];
    const { paid, agentOn } = createPay(inPay);
    const refusals: unknown[] = [];
    let times = 0;
    const cashier = async ({ runId, signal }: ProgramJob): Promise<void> => {
      times += 1;
      if (times === 1) await beforeOpen.pass();
      const invoked = agentOn(runtime).invoke({ ...GO, runId }, { signal });
      await invoked.catch((error: unknown) => {
        refusals.push(error);
        throw error;
      });
    };
    const worker = await start({ runtime, agents: { cashier }, drainMs: 0 });
    await runtime.enqueue("cashier", { kind: "agent", runId: "x", input: GO });
    await beforeOpen.reached;
    const resumed = agentOn(other).invoke({ ...GO, runId: "x" });
    await inPay.reached;
    beforeOpen.open();
    await until(() => refusals.length > 0);
    expect(refusals).toMatchObject([{ code: "TOOL_RUN_CONFLICT" }]);
    return { worker, paid, resumed, inPay };
  };

  for (const which of ["the runtime of the worker", "another runtime"] as const) {
    test(`a run that ${which} opens after the claim does not fail: the worker's program finds the result`, async () => {
      const { runtime, second } = await open();
      const other = which === "another runtime" ? second : runtime;
      const { worker, paid, resumed, inPay } = await claimThenOpen(runtime, other);
      inPay.open();
      expect(await resumed).toMatchObject({ status: "finished" });
      await worker.idle();
      expect(paid).toEqual([5]);
      expect(await runtime.describeRun("x")).toMatchObject({ status: "finished", error: null });
    });
  }

  test("a worker that drains leaves a run to another runtime of its process that has opened it", async () => {
    const { runtime, second } = await open();
    const { worker, paid, resumed, inPay } = await claimThenOpen(runtime, second);
    await worker.drain();
    expect(await second.describeRun("x")).toMatchObject({ status: "running", interrupted: false });
    inPay.open();
    expect(await resumed).toMatchObject({ status: "finished" });
    expect(paid).toEqual([5]);
    expect(await second.describeRun("x")).toMatchObject({ status: "finished", error: null });
  });

  test("a program that opens one of its tasks twice at the same time fails its run", async () => {
    const { runtime } = await open();
    const twice = async ({ runId }: ProgramJob): Promise<void> => {
      const opened = createGate();
      const first = runtime.run({ runId }, () => opened.pass());
      await opened.reached;
      await runtime.run({ runId }, () => undefined).finally(() => opened.open());
      await first;
    };
    const worker = await start({ runtime, programs: { twice } });
    await runtime.enqueue("twice", { kind: "program", runId: "x" });
    await worker.idle();
    expect(await runtime.describeRun("x")).toMatchObject({
      status: "failed",
      error: { code: "TOOL_RUN_CONFLICT" },
    });
  });

  test("a worker takes no run that its own runtime has open, even if its list of ready runs is old", async () => {
    const [listed, inPay] = [createGate(), createGate()];
    const { runtime } = await open((store) => withStaleLists(store, listed));
    const { paid, agentOn } = createPay(inPay, true);
    const agent = agentOn(runtime);
    const { state } = await agent.invoke({ runId: "x", ...GO });
    await runtime.resolveToolApproval(state.pendingApprovals[0]?.id ?? "", { approved: true });
    const worker = await start({ runtime, agents: { cashier: agentOn(runtime) } });
    await listed.reached;
    const resumed = agent.invoke(state);
    await inPay.reached;
    listed.open();
    await Promise.race([worker.idle(), until(() => worker.status().claimed > 0)]);
    const { claimed } = worker.status();
    inPay.open();
    expect(claimed).toBe(0);
    expect(await resumed).toMatchObject({ status: "finished" });
    expect(paid).toEqual([5]);
    expect(await runtime.describeRun("x")).toMatchObject({ status: "finished" });
  });
});
