/** Agents and programs that a process started by itself: if it dies, a worker that knows their name continues them. */
import {
  createRuntime,
  createSmartAgent,
  createWorker,
  defineTool,
  type ProgramJob,
  runAgentLoop,
  type Runtime,
} from "toolwright";
import { createScriptedModel } from "toolwright/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { requestResume } from "../../src/operate/steer-run.ts";
import { hostOf } from "../../src/runtime/create-runtime.ts";
import { all, change } from "../../src/store/statement.ts";
import { systemClock } from "../../src/util/clock.ts";
import { call as anthropicCall, serve } from "../anthropic/harness.ts";
import { never, until } from "../semantics/harness.ts";
import { STORE_KINDS } from "../store-kinds.ts";

/**
 * A tool whose calls never return until `revive`, like calls of a process that died. The service charges once per key.
 */
function createCharge() {
  const keys: string[] = [];
  let isDying = true;
  const charge = defineTool({
    name: "charge",
    description: "Charges",
    schema: z.object({ cents: z.number() }),
    sideEffect: true,
    execute: ({ cents }, ctx) => {
      keys.push(ctx.idempotencyKey);
      return isDying ? never<{ cents: number }>() : { cents };
    },
  });
  const revive = (): void => {
    isDying = false;
  };
  return { charge, keys, revive };
}

async function kill(runtime: Runtime): Promise<void> {
  const { store, ownerId } = await hostOf(runtime);
  await store.transaction(
    () => change("UPDATE toolwright_owners SET ended_at_ms = {now} WHERE id = ?1", ownerId),
    "normal",
  );
}

async function finished(runtime: Runtime, runId: string): Promise<boolean> {
  const { status, why } = await runtime.describeRun(runId);
  if (status === "failed") throw new Error(why);
  return status === "finished";
}

describe.each(STORE_KINDS)("on $name", ({ fresh }) => {
  const open = async (): Promise<() => Runtime> => {
    const store = await fresh();
    onTestFinished(() => store[Symbol.asyncDispose]());
    return () => {
      const runtime = createRuntime({ store: store.address });
      // The call that never returns would keep it open.
      onTestFinished(() => void runtime.close());
      return runtime;
    };
  };

  test("a smart agent continues its turn on a worker, and repeats neither responses nor effects", async () => {
    const runtimeOn = await open();
    const { charge, keys, revive } = createCharge();
    const agentOn = (runtime: Runtime) => {
      const model = createScriptedModel([[{ toolName: "charge", input: { cents: 5 } }], "Charged."]);
      return { model, agent: createSmartAgent({ name: "cashier", model, tools: [charge], runtime }) };
    };
    const dying = runtimeOn();
    void agentOn(dying)
      .agent.invoke({ runId: "a", messages: [{ role: "user", content: "Charge 5." }] })
      .catch(() => undefined);
    await until(() => keys.length === 1);
    const runtime = runtimeOn();
    const { agent, model } = agentOn(runtime);
    // Under another name: the run is listed under the agent's own.
    const worker = createWorker({ runtime, agents: { till: agent }, leaseMs: 2_000 });
    await worker.start();
    onTestFinished(() => worker.drain());
    expect(worker.status().running).toEqual([]);
    revive();
    await kill(dying);
    await until(() => finished(runtime, "a"));
    expect(new Set(keys).size).toBe(1);
    expect(model.requests).toHaveLength(1);
    expect((await agent.invoke({ runId: "a" })).content).toBe("Charged.");
  });

  test("a run without its own name is left to its program, even if a worker serves its listed name", async () => {
    const runtimeOn = await open();
    const { charge, keys, revive } = createCharge();
    const dying = runtimeOn();
    const hang = (): Promise<unknown> => charge.call({ cents: 1 });
    const started: Promise<unknown>[] = [
      dying.run({ runId: "script", input: { cents: 1 } }, hang),
      dying.run({ runId: "node", nodeId: "step" }, hang),
      dying.call(charge, { cents: 1 }, { runId: "bare" }),
      dying.run({ runId: "named", name: "invoice" }, hang),
    ];
    for (const one of started) one.catch(() => undefined);
    await until(() => keys.length === 4);
    const { runs } = await dying.runs();
    const names = Object.fromEntries(runs.map(({ runId, name }) => [runId, name]));
    expect(names).toEqual({ script: "program", node: "step", bare: "charge", named: "invoice" });
    const runtime = runtimeOn();
    const ran: unknown[] = [];
    const note = ({ runId, input }: ProgramJob): Promise<unknown> => {
      ran.push([runId, input]);
      return runtime.run({ runId }, hang);
    };
    const worker = createWorker({
      runtime,
      programs: { program: note, step: note, charge: note, invoice: note },
      leaseMs: 2_000,
    });
    revive();
    await kill(dying);
    await worker.start();
    onTestFinished(() => worker.drain());
    await until(() => finished(runtime, "named"));
    await worker.idle();
    expect(ran).toEqual([["named", undefined]]);
    const { store } = await hostOf(runtime);
    for (const runId of ["script", "node", "bare"]) {
      expect(await runtime.describeRun(runId)).toMatchObject({ status: "running", interrupted: true });
      const answer = await requestResume(store, runId, { program: "toolwright", store: undefined });
      expect(answer).toMatchObject({ by: null, message: expect.stringContaining("Its program resumes it") });
    }
  });

  test("a worker gets the enqueued input again, although the program stores its own input", async () => {
    const runtimeOn = await open();
    const { charge, keys, revive } = createCharge();
    const inputs: unknown[] = [];
    const start = async (): Promise<Runtime> => {
      const runtime = runtimeOn();
      const invoice = ({ runId, input }: ProgramJob): Promise<unknown> => {
        inputs.push(input);
        return runtime.run({ runId, name: "other", input: "own" }, () => charge.call({ cents: 2 }));
      };
      const worker = createWorker({ runtime, programs: { invoice }, leaseMs: 2_000, drainMs: 0 });
      await worker.start();
      onTestFinished(() => worker.drain());
      return runtime;
    };
    const dying = await start();
    await dying.enqueue("invoice", { runId: "a", input: { order: 17 } });
    await until(() => keys.length === 1);
    revive();
    await kill(dying);
    const runtime = await start();
    await until(() => finished(runtime, "a"));
    expect(inputs).toEqual([{ order: 17 }, { order: 17 }]);
  });

  test("an agent whose worker has died is not ended by another task with its run id, and continues on the next worker", async () => {
    const runtimeOn = await open();
    const { charge, keys, revive } = createCharge();
    const start = async (): Promise<Runtime> => {
      const runtime = runtimeOn();
      const model = createScriptedModel([[{ toolName: "charge", input: { cents: 4 } }], "Charged."]);
      const cashier = createSmartAgent({ name: "cashier", model, tools: [charge], runtime });
      const worker = createWorker({ runtime, agents: { cashier }, leaseMs: 2_000, drainMs: 0 });
      await worker.start();
      onTestFinished(() => worker.drain());
      return runtime;
    };
    const dying = await start();
    await dying.enqueue("cashier", { runId: "a", kind: "agent", input: "Charge 4." });
    await until(() => keys.length === 1);
    await kill(dying);
    revive();
    const runtime = runtimeOn();
    await expect(runtime.run({ runId: "a", nodeId: "hook" }, () => undefined)).rejects.toMatchObject({
      code: "TOOL_RUN_TAKEN",
      message: expect.stringContaining('the agent "cashier"'),
    });
    await start();
    await until(() => finished(runtime, "a"));
    expect(new Set(keys).size).toBe(1);
    const { store } = await hostOf(runtime);
    const [turn] = await store.read(() => all("SELECT result_json FROM toolwright_turns"));
    expect(turn?.["result_json"]).toContain("Charged.");
  });

  test("a program that resumes the run of a dead worker itself keeps it: no other worker takes it", async () => {
    const runtimeOn = await open();
    const { charge, keys, revive } = createCharge();
    const ran: string[] = [];
    const start = async (name: string): Promise<Runtime> => {
      const runtime = runtimeOn();
      const invoice = ({ runId }: ProgramJob): Promise<unknown> => {
        ran.push(name);
        return runtime.run({ runId }, () => charge.call({ cents: 3 }));
      };
      const worker = createWorker({ runtime, programs: { invoice }, leaseMs: 2_000, drainMs: 0 });
      await worker.start();
      onTestFinished(() => worker.drain());
      return runtime;
    };
    const dying = await start("first");
    await dying.enqueue("invoice", { runId: "a" });
    await until(() => keys.length === 1);
    await kill(dying);
    revive();
    const runtime = runtimeOn();
    const gate = Promise.withResolvers<void>();
    const resumed = runtime.run({ runId: "a" }, async () => {
      await gate.promise;
      return charge.call({ cents: 3 });
    });
    await until(async () => !(await runtime.describeRun("a")).interrupted);
    await start("second");
    // Longer than a lease: its sweep looks for the runs of dead owners.
    await systemClock.sleep(2_500);
    expect(ran).toEqual(["first"]);
    gate.resolve();
    expect(await resumed).toEqual({ cents: 3 });
    expect(new Set(keys).size).toBe(1);
    expect(await runtime.describeRun("a")).toMatchObject({ status: "finished", interrupted: false });
  });

  test("rule 41: a worker that has lost a run begins no bare call in it, even one that its successor has not made", async () => {
    const runtimeOn = await open();
    const effects: string[] = [];
    const note = defineTool({
      name: "note",
      description: "Notes",
      schema: z.object({ text: z.string() }),
      sideEffect: true,
      execute: ({ text }, _ctx) => effects.push(text),
    });
    const [reached, pause, refusal] = [
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
      Promise.withResolvers<unknown>(),
    ];
    const start = async (name: string): Promise<Runtime> => {
      const runtime = runtimeOn();
      const invoice = async ({ runId }: ProgramJob): Promise<void> => {
        await runtime.call(note, { text: "begin" }, { runId });
        if (name === "first") {
          reached.resolve();
          await pause.promise;
        }
        await runtime.call(note, { text: name }, { runId }).catch((error: unknown) => {
          refusal.resolve(error);
          throw error;
        });
      };
      const worker = createWorker({ runtime, programs: { invoice }, leaseMs: 2_000, drainMs: 0 });
      await worker.start();
      onTestFinished(() => worker.drain());
      return runtime;
    };
    const first = await start("first");
    await first.enqueue("invoice", { runId: "a", kind: "program" });
    await reached.promise;
    await kill(first);
    const second = await start("second");
    await until(() => finished(second, "a"));
    pause.resolve();
    expect(await refusal.promise).toMatchObject({ code: "TOOL_RUN_FENCED", effect: "none" });
    expect(effects).toEqual(["begin", "second"]);
    expect(await second.describeRun("a")).toMatchObject({ status: "finished" });
  });

  test("a program of runtime.run gets its input, which is deleted at the end; unknown names are left alone", async () => {
    const runtimeOn = await open();
    const { charge, keys, revive } = createCharge();
    const dying = runtimeOn();
    for (const name of ["invoice", "unknown"])
      void dying
        .run({ runId: name, name, input: { cents: 7 } }, () => charge.call({ cents: 7 }))
        .catch(() => undefined);
    await until(() => keys.length === 2);
    const runtime = runtimeOn();
    const inputs: unknown[] = [];
    const worker = createWorker({
      runtime,
      programs: {
        invoice: ({ runId, input, signal }) => {
          inputs.push(input);
          return runtime.run({ runId, signal }, () => charge.call(input as { cents: number }));
        },
      },
      leaseMs: 2_000,
    });
    await worker.start();
    onTestFinished(() => worker.drain());
    const { store } = await hostOf(runtime);
    const inputOf = (runId: string) =>
      store.read(() => all("SELECT input_json FROM toolwright_runs WHERE id = ?1", runId));
    expect((await inputOf("invoice"))[0]?.["input_json"]).toContain("7");
    revive();
    await kill(dying);
    await until(() => finished(runtime, "invoice"));
    expect(inputs).toEqual([{ cents: 7 }]);
    expect((await inputOf("invoice"))[0]?.["input_json"]).toBeNull();
    expect(await runtime.describeRun("unknown")).toMatchObject({ status: "running", interrupted: true });
    expect(
      await store.read(() => all("SELECT id FROM toolwright_runs WHERE ready_at_ms IS NOT NULL")),
    ).toEqual([]);
  });
});

test("a program that failed in a crash loop is resumed by a worker, with its input and a new count", async () => {
  const [sqlite] = STORE_KINDS;
  const fresh = await sqlite.fresh();
  onTestFinished(() => fresh[Symbol.asyncDispose]());
  const runtime = createRuntime({ store: fresh.address });
  onTestFinished(() => runtime.close());
  const inputs: unknown[] = [];
  const programs = {
    invoice: ({ runId, input }: { runId: string; input: unknown }) => {
      inputs.push(input);
      return runtime.run({ runId }, () => undefined);
    },
  };
  const { store } = await hostOf(runtime);
  // As the worker leaves it that finds the sixth dead owner in a row.
  for (const runId of ["poison", "early"])
    await runtime.enqueue("invoice", {
      runId,
      kind: "program",
      input: { cents: 9 },
      startAt: Date.now() + 3_600_000,
    });
  await store.transaction(
    () =>
      change(
        `UPDATE toolwright_runs SET state = 'failed', claim_epoch = 6, takeovers = 6, ready_at_ms = NULL,
           error_json = '{"code":"WORKFLOW_CRASH_LOOP","message":"again"}', finished_at_ms = 1`,
      ),
    "normal",
  );
  const syntax = { program: "toolwright", store: undefined };
  // Without a worker it is queued, and says so.
  expect((await runtime.explainRun("early")).because.join(" ")).toMatch(/A worker runs it again.*No worker/);
  expect(await requestResume(store, "early", syntax)).toMatchObject({
    by: "worker",
    message: "It is queued. No worker is running. Start a worker that knows it.",
    command: "toolwright worker",
  });
  const worker = createWorker({ runtime, programs, leaseMs: 2_000 });
  await worker.start();
  onTestFinished(() => worker.drain());
  await until(() => finished(runtime, "early"));
  // The page has a button for this step.
  expect((await runtime.explainRun("poison")).next[0]?.command).toMatch(/resume poison/);
  expect(await requestResume(store, "poison", syntax)).toMatchObject({ by: "worker", command: null });
  await until(() => finished(runtime, "poison"));
  expect(inputs).toEqual([{ cents: 9 }, { cents: 9 }]);
  const rows = await store.read(() => all("SELECT takeovers FROM toolwright_runs"));
  expect(rows.map((row) => row["takeovers"])).toEqual([0, 0]);
});

test("a loop of runAgentLoop with a name gets its messages, and a worker that starts later finds it", async () => {
  const [sqlite] = STORE_KINDS;
  const fresh = await sqlite.fresh();
  onTestFinished(() => fresh[Symbol.asyncDispose]());
  const { charge, keys, revive } = createCharge();
  const { server, client } = await serve([[anthropicCall("charge", { cents: 3 }, "c")], "Charged."]);
  const messages = [{ role: "user" as const, content: "Charge 3." }];
  const common = { client, model: "claude-test", tools: [charge], runId: "loop", name: "till" };
  const dying = createRuntime({ store: fresh.address });
  void runAgentLoop({ ...common, messages, runtime: dying }).catch(() => undefined);
  await until(() => keys.length === 1);
  revive();
  await kill(dying);
  const runtime = createRuntime({ store: fresh.address });
  const worker = createWorker({
    runtime,
    agents: {
      till: ({ input, signal }) =>
        runAgentLoop({ ...common, ...(input as { messages: typeof messages }), runtime, signal }),
    },
  });
  await worker.start();
  await until(() => finished(runtime, "loop"));
  expect(server.requests).toHaveLength(2);
  expect(new Set(keys).size).toBe(1);
  await worker.drain();
  await runtime.close();
});

test("retention keeps an agent that waits for a worker, however old it is", async () => {
  const [sqlite] = STORE_KINDS;
  const fresh = await sqlite.fresh();
  onTestFinished(() => fresh[Symbol.asyncDispose]());
  const year = 365 * 86_400_000;
  let now = Date.now() - year;
  const clock = { now: () => now, sleep: () => Promise.resolve() };
  await using runtime = createRuntime({ store: fresh.address, clock });
  await runtime.enqueue("later", {
    kind: "agent",
    runId: "queued",
    startAt: now + 2 * year,
    input: { messages: [] },
  });
  await runtime.run({ runId: "ended" }, () => undefined);
  now += year;
  expect(await runtime.gc()).toMatchObject({ deletedRuns: 1 });
  expect((await runtime.describeRun("queued")).status).toBe("queued");
  await expect(runtime.describeRun("ended")).rejects.toMatchObject({ code: "TOOL_RUN_DELETED" });
});

test.each(STORE_KINDS)(
  "rule 30: on $name, retention leaves a run alone that a worker holds, also between its tasks and after the worker has died",
  async ({ fresh }) => {
    const at = await fresh();
    onTestFinished(() => at[Symbol.asyncDispose]());
    const year = 365 * 86_400_000;
    const later = () => Date.now() + year;
    const inputs: unknown[] = [];
    const pause = Promise.withResolvers<void>();
    const start = async (isFirst: boolean): Promise<Runtime> => {
      const runtime = createRuntime({ store: at.address });
      onTestFinished(() => runtime.close());
      const invoice = async ({ runId, input }: ProgramJob): Promise<void> => {
        await runtime.run({ runId, nodeId: "one" }, () => undefined);
        inputs.push(input);
        if (isFirst) await pause.promise;
        await runtime.run({ runId, nodeId: "two" }, () => undefined);
      };
      const worker = createWorker({ runtime, programs: { invoice }, leaseMs: 2_000, drainMs: 0 });
      await worker.start();
      onTestFinished(() => worker.drain());
      return runtime;
    };
    const first = await start(true);
    await first.enqueue("invoice", { runId: "a", kind: "program", input: { order: 17 } });
    await until(() => inputs.length === 1);
    const clock = { now: later, sleep: () => Promise.resolve() };
    await using collector = createRuntime({ store: at.address, clock });
    const nothing = { deletedRuns: 0, clearedRuns: 0 };
    expect(await collector.gc()).toMatchObject(nothing);
    await kill(first);
    expect(await collector.gc()).toMatchObject(nothing);
    const second = await start(false);
    await until(() => finished(second, "a"));
    expect(inputs).toEqual([{ order: 17 }, { order: 17 }]);
    pause.resolve();
    expect(await collector.gc()).toMatchObject({ deletedRuns: 1 });
  },
);
