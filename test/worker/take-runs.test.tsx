/** A worker takes ready runs: enqueued runs, decided runs, and runs of processes that died. */
import {
  createRuntime,
  createWorker,
  createWorkflows,
  defineTool,
  type Runtime,
  type WorkflowDefinition,
} from "toolwright";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { until } from "../semantics/harness.ts";
import { STORE_KINDS } from "../store-kinds.ts";

const { Workflow, Task, Approval, workflow, outputs } = createWorkflows({
  input: z.object({ n: z.number().default(1) }),
  output: z.object({ twice: z.number() }),
});

const double: WorkflowDefinition = workflow((ctx) => (
  <Workflow name="double">
    <Task id="double" output={outputs.output}>
      {() => ({ twice: 2 * ctx.input.n })}
    </Task>
  </Workflow>
));

const asking = workflow((ctx) => (
  <Workflow name="asking">
    <Approval id="ask" prompt="May it?" />
    <Task id="double" output={outputs.output} dependsOn={["ask"]}>
      {() => ({ twice: 2 * ctx.input.n })}
    </Task>
  </Workflow>
)) as WorkflowDefinition;

async function statusOf(runtime: Runtime, runId: string): Promise<string> {
  return (await runtime.describeRun(runId)).status;
}

for (const kind of STORE_KINDS) {
  const open = async (): Promise<() => Runtime> => {
    const fresh = await kind.fresh();
    onTestFinished(() => fresh[Symbol.asyncDispose]());
    return () => {
      const runtime = createRuntime({ store: fresh.address });
      onTestFinished(() => runtime.close());
      return runtime;
    };
  };

  test(`on ${kind.name}, a worker starts what another process enqueued, larger priorities first`, async () => {
    const runtimeOn = await open();
    const sender = runtimeOn();
    const order: unknown[] = [];
    const note = createWorkflows({ input: z.object({ n: z.number() }), output: z.object({ n: z.number() }) });
    const noting = note.workflow((ctx) => (
      <note.Workflow name="noting">
        <note.Task id="note" output={note.outputs.output}>
          {() => (order.push(ctx.input.n), { n: ctx.input.n })}
        </note.Task>
      </note.Workflow>
    )) as WorkflowDefinition;
    await sender.enqueue("noting", { input: { n: 2 } });
    await sender.enqueue("noting", { input: { n: 3 } });
    await sender.enqueue("noting", { input: { n: 1 }, priority: 10 });
    await sender.enqueue("noting", { input: { n: 9 }, startAt: Date.now() + 3_600_000 });
    const { runId } = await sender.enqueue("noting", { input: { n: "no number" }, runId: "bad" });
    expect(await statusOf(sender, "bad")).toBe("queued");
    // The same again is the same run; another input is not.
    expect(await sender.enqueue("noting", { input: { n: "no number" }, runId })).toEqual({ runId });
    for (const input of [{ n: 7 }, {}, undefined])
      await expect(sender.enqueue("noting", { input, runId })).rejects.toThrow(/already exists/);
    const worker = createWorker({ runtime: runtimeOn(), workflows: { noting }, concurrency: 1 });
    await worker.start();
    await worker.idle();
    expect(order).toEqual([1, 2, 3]);
    expect(worker.status()).toMatchObject({ state: "active", claimed: 4, running: [], lastError: null });
    const { error } = await sender.describeRun("bad");
    expect(error?.code).toBe("WORKFLOW_INPUT_INVALID");
    await worker.drain();
    expect(worker.status().state).toBe("stopped");
    const { runs } = await sender.runs({ status: "queued" });
    expect(runs.length).toBe(1);
  });

  test(`on ${kind.name}, the same input is the same run, even when the schema has added defaults`, async () => {
    const runtimeOn = await open();
    const sender = runtimeOn();
    const order = createWorkflows({
      input: z.object({
        lines: z.array(z.object({ item: z.string(), count: z.number().default(1) })),
        note: z.string().default(""),
      }),
    });
    const ordering = order.workflow(() => <order.Workflow name="ordering" />) as WorkflowDefinition;
    const input = { lines: [{ item: "pear" }] };
    await sender.enqueue("ordering", { runId: "a", input });
    const worker = createWorker({ runtime: runtimeOn(), workflows: { ordering } });
    await worker.start();
    onTestFinished(() => worker.drain());
    await until(async () => (await statusOf(sender, "a")) === "finished");
    expect(await sender.enqueue("ordering", { runId: "a", input })).toEqual({ runId: "a" });
    for (const lines of [[{ item: "fig" }], [{ item: "pear" }, { item: "pear" }], []])
      await expect(sender.enqueue("ordering", { runId: "a", input: { lines } })).rejects.toMatchObject({
        code: "WORKFLOW_RUN_EXISTS",
      });
  });

  test(`on ${kind.name}, a decision in another process resumes the run`, async () => {
    const runtimeOn = await open();
    const sender = runtimeOn();
    const worker = createWorker({ runtime: runtimeOn(), workflows: { double, asking }, leaseMs: 2_000 });
    await worker.start();
    onTestFinished(() => worker.drain());
    const { runId } = await sender.enqueue("asking", { input: { n: 4 } });
    await until(async () => (await statusOf(sender, runId)) === "waiting-approval");
    const [request] = await sender.approvals({ status: "pending" });
    await sender.resolveToolApproval(request?.id ?? "", { approved: true });
    await until(async () => (await statusOf(sender, runId)) === "finished");
    expect(worker.status().claimed).toBe(2);
  });

  test(`on ${kind.name}, agents and programs are enqueued and resumed by name`, async () => {
    const runtimeOn = await open();
    const sender = runtimeOn();
    const runtime = runtimeOn();
    let runs = 0;
    const pay = defineTool({
      name: "pay",
      description: "Pays",
      schema: z.object({ cents: z.number() }),
      sideEffect: true,
      needsApproval: true,
      execute: ({ cents }, ctx) => {
        runs += 1;
        return { cents, key: ctx.idempotencyKey };
      },
    });
    const worker = createWorker({
      runtime,
      programs: {
        payment: async ({ runId, input, signal, runtime: own }) =>
          own.run({ runId, signal }, () => own.call(pay, input as { cents: number })),
      },
    });
    await worker.start();
    onTestFinished(() => worker.drain());
    const { runId } = await sender.enqueue("payment", { input: { cents: 5 } });
    await until(async () => (await statusOf(sender, runId)) === "waiting-approval");
    expect(runs).toBe(0);
    const [request] = await sender.approvals({ status: "pending" });
    await sender.resolveToolApproval(request?.id ?? "", { approved: true });
    await until(async () => (await statusOf(sender, runId)) === "finished");
    expect(runs).toBe(1);
  });
}

test("a run that cannot be enqueued is refused by name", async () => {
  const runtime = createRuntime({ store: ":memory:" });
  onTestFinished(() => runtime.close());
  const refused = async (options: object, message: RegExp): Promise<void> => {
    const error: unknown = await runtime.enqueue("w", options).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "TOOL_OPTION_INVALID", message: expect.stringMatching(message) });
  };
  await refused({ input: { when: () => 1 } }, /input must be storable: when is a function/);
  await refused({ startAt: 1e300 }, /startAt must be a Date/);
  await refused({ startAt: -1 }, /startAt must be a Date/);
  await refused({ priority: 1.5 }, /priority must be an integer/);
  await refused({ prio: 1 }, /Did you mean "priority"/);
  await expect(runtime.run({ runId: "a", input: () => 1 }, () => 1)).rejects.toThrow(
    /input must be storable/,
  );
});
