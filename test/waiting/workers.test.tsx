/** Workers continue runs that a timer or a signal woke, and start the runs of schedules. Real workers, on both stores. */
import {
  createRuntime,
  createWorker,
  createWorkflows,
  type Runtime,
  runWorkflow,
  type Worker,
  type WorkflowDefinition,
} from "toolwright";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { STORE_KINDS } from "../store-kinds.ts";
import { until } from "../workflow/harness.ts";

const { Workflow, Task, Sleep, Signal, workflow, outputs } = createWorkflows({
  input: z.object({ ms: z.number().default(0), day: z.number().default(0) }),
  paid: z.object({ amount: z.number() }),
  output: z.object({ text: z.string() }),
});

const waiting = workflow((ctx) => (
  <Workflow name="waiting">
    <Sleep id="nap" for={ctx.input.ms} />
    <Signal id="paid" name="paid" output={outputs.paid} />
    <Task id="end" output={outputs.output}>
      {() => ({ text: "done" })}
    </Task>
  </Workflow>
)) as WorkflowDefinition;

describe.each(STORE_KINDS)("on $name", (kind) => {
  async function open(): Promise<() => Runtime> {
    const fresh = await kind.fresh();
    onTestFinished(() => fresh[Symbol.asyncDispose]());
    return () => {
      const runtime = createRuntime({ store: fresh.address });
      onTestFinished(() => runtime.close());
      return runtime;
    };
  }

  async function work(runtime: Runtime, workflows: Record<string, WorkflowDefinition>): Promise<Worker> {
    const worker = createWorker({ runtime, workflows, leaseMs: 2_000 });
    onTestFinished(() => worker.drain());
    await worker.start();
    return worker;
  }

  const statusOf = async (runtime: Runtime, runId: string): Promise<string> =>
    (await runtime.describeRun(runId)).status;

  test("a worker resumes a run when its time is up and when its signal arrives", async () => {
    const runtimeOn = await open();
    const operator = runtimeOn();
    await operator.enqueue("waiting", { input: { ms: 300 }, runId: "queued" });
    const program = runtimeOn();
    const first = await runWorkflow(waiting, { runtime: program, runId: "started", input: { ms: 300 } });
    expect(first.status).toBe("waiting-timer");
    await work(runtimeOn(), { waiting });
    for (const runId of ["queued", "started"]) {
      await until(async () => (await statusOf(operator, runId)) === "waiting-signal");
      await operator.signal(runId, "paid", { amount: 7 });
      await until(async () => (await statusOf(operator, runId)) === "finished");
    }
  });

  test("a run of another process that begins to sleep while the worker is idle is continued in time", async () => {
    const runtimeOn = await open();
    const operator = runtimeOn();
    await work(runtimeOn(), { waiting });
    const result = await runWorkflow(waiting, { runtime: operator, runId: "r", input: { ms: 200 } });
    expect(result.status).toBe("waiting-timer");
    await until(async () => (await statusOf(operator, "r")) === "waiting-signal");
  });

  test("two workers start one run for each time of a schedule", async () => {
    const runtimeOn = await open();
    const operator = runtimeOn();
    const days: number[] = [];
    const noting = workflow((ctx) => (
      <Workflow name="noting">
        <Task id="note" output={outputs.output}>
          {() => {
            days.push(ctx.input.day);
            return { text: ctx.runId };
          }}
        </Task>
      </Workflow>
    )) as WorkflowDefinition;
    await work(runtimeOn(), { noting });
    await work(runtimeOn(), { noting });
    await operator.schedules.set({ name: "often", workflow: "noting", everyMs: 200, input: { day: 3 } });
    await until(() => days.length >= 4);
    await operator.schedules.pause("often");
    await until(async () => (await operator.runs({})).runs.every(({ status }) => status === "finished"));
    const { runs } = await operator.runs({});
    expect(runs.length).toBe(days.length);
    expect(new Set(days)).toEqual(new Set([3]));
    for (const { runId } of runs) expect(runId).toMatch(/^schedule:often:20\d\d-.*Z$/);
    expect(runs[0]?.labels).toEqual({ schedule: "often" });
  });

  test('with overlap "queue" a worker runs one at a time, and ends what is queued after a pause', async () => {
    const runtimeOn = await open();
    const operator = runtimeOn();
    let running = 0;
    let most = 0;
    const gate = Promise.withResolvers<void>();
    const slow = workflow(() => (
      <Workflow name="slow">
        <Task id="slow" output={outputs.output}>
          {async () => {
            running += 1;
            most = Math.max(most, running);
            await gate.promise;
            running -= 1;
            return { text: "done" };
          }}
        </Task>
      </Workflow>
    )) as WorkflowDefinition;
    await work(runtimeOn(), { slow });
    await operator.schedules.set({ name: "slow", workflow: "slow", everyMs: 150, overlap: "queue" });
    await until(async () => ((await operator.schedules.list())[0]?.queued ?? 0) >= 2);
    await operator.schedules.pause("slow");
    gate.resolve();
    await until(async () => {
      const { runs } = await operator.runs({});
      const [schedule] = await operator.schedules.list();
      return schedule?.queued === 0 && runs.every(({ status }) => status === "finished");
    });
    expect(most).toBe(1);
    expect((await operator.runs({})).runs.length).toBeGreaterThanOrEqual(3);
  });
});
