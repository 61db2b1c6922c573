/** One run id, used by two kinds of runs: the second is refused, and the first is neither lost nor run twice. */
import { once } from "node:events";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  createRuntime,
  createSmartAgent,
  createWorker,
  createWorkflows,
  defineTool,
  type ProgramJob,
  runWorkflow,
  type Runtime,
  type WorkflowDefinition,
} from "toolwright";
import { createScriptedModel } from "toolwright/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { cancelAnyRun, requestResume } from "../../src/operate/steer-run.ts";
import { hostOf } from "../../src/runtime/create-runtime.ts";
import { all } from "../../src/store/statement.ts";
import { until } from "../semantics/harness.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import { createFolder } from "../workflow/harness.ts";
import { startProgram } from "./start-process.ts";

const { Workflow, Task, workflow, outputs } = createWorkflows({ output: z.object({ n: z.number() }) });

const GO = { messages: [{ role: "user" as const, content: "Go." }] };

describe.each(STORE_KINDS)("on $name", ({ fresh }) => {
  /** Effects are counted outside the store. */
  const open = async () => {
    const store = await fresh();
    onTestFinished(() => store[Symbol.asyncDispose]());
    const effects: string[] = [];
    const createNote = (name: string, needsApproval: boolean) =>
      defineTool({
        name,
        description: "Notes",
        schema: z.object({ text: z.string() }),
        sideEffect: true,
        needsApproval,
        execute: ({ text }) => (effects.push(text), text),
      });
    const note = createNote("note", false);
    const pay = createNote("pay", true);
    const runtimeOn = (): Runtime => {
      const runtime = createRuntime({ store: store.address });
      onTestFinished(() => runtime.close());
      return runtime;
    };
    const noting = workflow(() => (
      <Workflow name="noting">
        <Task id="note" output={outputs.output}>
          {async () => (await note.execute({ text: "workflow" }), { n: 1 })}
        </Task>
      </Workflow>
    )) as WorkflowDefinition;
    const agentOn = (runtime: Runtime, text: string, tool = note) =>
      createSmartAgent({
        name: "writer",
        model: createScriptedModel([[{ toolName: tool.name, input: { text } }], "Noted."]),
        tools: [tool],
        runtime,
      });
    const work = async (text = "enqueued", tool = note): Promise<void> => {
      const runtime = runtimeOn();
      const worker = createWorker({
        runtime,
        workflows: { noting },
        agents: { writer: agentOn(runtime, text, tool) },
        programs: {
          report: ({ runId }) => runtime.run({ runId }, () => tool.execute({ text })),
        },
      });
      await worker.start();
      await worker.idle();
      await worker.drain();
    };
    return { runtimeOn, effects, note, pay, noting, agentOn, work };
  };

  type Opened = Awaited<ReturnType<typeof open>>;
  const uses: readonly (readonly [string, (opened: Opened, runtime: Runtime) => Promise<unknown>])[] = [
    ["a workflow", ({ noting }, runtime) => runWorkflow(noting, { runtime, runId: "x" })],
    [
      "a workflow that resumes",
      ({ noting }, runtime) => runWorkflow(noting, { runtime, runId: "x", resume: "auto" }),
    ],
    [
      "an agent with another input",
      ({ agentOn }, runtime) =>
        agentOn(runtime, "other").invoke({ runId: "x", messages: [{ role: "user", content: "Another." }] }),
    ],
    [
      "a program",
      ({ note }, runtime) => runtime.run({ runId: "x" }, () => note.execute({ text: "program" })),
    ],
    ["a bare call", ({ note }, runtime) => runtime.call(note, { text: "call" }, { runId: "x" })],
  ];

  for (const kind of ["agent", "program"] as const) {
    test.each(uses)(`an enqueued ${kind} is not lost to %s with its run id`, async (_, use) => {
      const opened = await open();
      const sender = opened.runtimeOn();
      await sender.enqueue(kind === "agent" ? "writer" : "report", { kind, runId: "x", input: GO });
      await expect(use(opened, opened.runtimeOn())).rejects.toMatchObject({
        code: expect.stringMatching(/^(TOOL_RUN_TAKEN|WORKFLOW_RUN_EXISTS)$/),
        message: expect.stringContaining(kind),
      });
      expect(await sender.describeRun("x")).toMatchObject({ kind, status: "queued" });
      await opened.work();
      expect(opened.effects).toEqual(["enqueued"]);
      expect(await sender.describeRun("x")).toMatchObject({ kind, status: "finished" });
    });
  }

  test("a cancelled enqueued run can be started by its own program", async () => {
    const { runtimeOn, effects, agentOn, work } = await open();
    const sender = runtimeOn();
    await sender.enqueue("writer", { kind: "agent", runId: "x", input: GO });
    await cancelAnyRun((await hostOf(sender)).store, "x");
    expect(await agentOn(sender, "here").invoke({ runId: "x", ...GO })).toMatchObject({ status: "finished" });
    await work();
    expect(effects).toEqual(["here"]);
  });

  test("resuming an enqueued agent names the worker, which alone can start it, even if none is running", async () => {
    const { runtimeOn } = await open();
    const sender = runtimeOn();
    await sender.enqueue("writer", { kind: "agent", runId: "x", input: GO });
    const { store } = await hostOf(sender);
    expect(await requestResume(store, "x", { program: "toolwright", store: "s.db" })).toMatchObject({
      by: "worker",
      message: expect.stringContaining("Start a worker"),
      command: "toolwright worker --store s.db",
    });
    expect(await sender.describeRun("x")).toMatchObject({ status: "queued" });
  });

  test("another input under the id of an enqueued run that was cancelled is refused, and not dropped", async () => {
    const { runtimeOn } = await open();
    const sender = runtimeOn();
    const enqueue = (n: number) => sender.enqueue("report", { kind: "program", runId: "x", input: { n } });
    await enqueue(1);
    await cancelAnyRun((await hostOf(sender)).store, "x");
    expect(await enqueue(1)).toEqual({ runId: "x" });
    await expect(enqueue(2)).rejects.toMatchObject({ code: "WORKFLOW_RUN_EXISTS" });
  });

  for (const kind of ["agent", "program"] as const) {
    test(`rule 3: another input under the id of an enqueued ${kind} that has finished is refused, and the same is not`, async () => {
      const { runtimeOn, effects, work } = await open();
      const sender = runtimeOn();
      const enqueue = (content: string) =>
        sender.enqueue(kind === "agent" ? "writer" : "report", {
          kind,
          runId: "x",
          input: { messages: [{ role: "user", content }] },
        });
      await enqueue("Go.");
      await work();
      expect(await sender.describeRun("x")).toMatchObject({ status: "finished" });
      expect(await enqueue("Go.")).toEqual({ runId: "x" });
      await expect(enqueue("Again.")).rejects.toMatchObject({ code: "WORKFLOW_RUN_EXISTS" });
      // Nothing in plain text distinguishes the two.
      const { store } = await hostOf(sender);
      expect(await store.read(() => all("SELECT input_json FROM toolwright_runs"))).toEqual([
        { input_json: null },
      ]);
      expect(effects).toEqual(["enqueued"]);
    });
  }

  test("rule 3: an agent that its own process has started is not continued by an enqueued input: that is refused", async () => {
    const { runtimeOn, agentOn } = await open();
    const runtime = runtimeOn();
    await agentOn(runtime, "here").invoke({ runId: "x", ...GO });
    await expect(
      runtime.enqueue("writer", { kind: "agent", runId: "x", input: "The next message." }),
    ).rejects.toMatchObject({ code: "WORKFLOW_RUN_EXISTS" });
  });

  test("a run that a worker of another process has claimed is not open to its own program as well", async () => {
    const store = await fresh();
    onTestFinished(() => store[Symbol.asyncDispose]());
    const ledger = join(createFolder(), "ledger.txt");
    const runtime = createRuntime({ store: store.address });
    onTestFinished(() => runtime.close());
    await runtime.enqueue("report", { kind: "program", runId: "x" });
    const worker = await startProgram("slow-start-process.ts", { store: store.address, ledger });
    await worker.says("claimed");
    const append = (): void => appendFileSync(ledger, "own\n");
    await expect(runtime.run({ runId: "x" }, append)).rejects.toMatchObject({ code: "TOOL_RUN_CONFLICT" });
    await until(async () => (await runtime.describeRun("x")).status !== "running");
    expect(await runtime.describeRun("x")).toMatchObject({ status: "finished", error: null });
    expect(readFileSync(ledger, "utf8")).toBe("worker\n");
    worker.signal("SIGKILL");
    await runtime.run({ runId: "x" }, append);
    expect(readFileSync(ledger, "utf8")).toBe("worker\nown\n");
  });

  test("no workflow takes the run id of another run, whatever its state", async () => {
    const { runtimeOn, effects, note, pay, noting, agentOn } = await open();
    const runtime = runtimeOn();
    await runtime.call(note, { text: "call" }, { runId: "call" });
    await runtime.run({ runId: "program" }, () => pay.execute({ text: "pay" })).catch(() => undefined);
    await agentOn(runtime, "agent").invoke({ runId: "agent", ...GO });
    const before = await runtime.runs();
    for (const runId of ["call", "program", "agent"])
      await expect(runWorkflow(noting, { runtime, runId })).rejects.toMatchObject({
        code: "WORKFLOW_RUN_EXISTS",
      });
    expect(effects).toEqual(["call", "agent"]);
    expect(await runtime.runs()).toEqual(before);
  });

  test("of an agent and a workflow that are enqueued at the same time under one run id, one is refused", async () => {
    const { runtimeOn, noting } = await open();
    const [one, two] = [runtimeOn(), runtimeOn()];
    await Promise.all([one.ready(), two.ready()]);
    for (let index = 0; index < 30; index += 1) {
      const runId = `x${index}`;
      const second =
        index % 2 === 0
          ? () => two.enqueue("noting", { kind: "workflow", runId })
          : () => runWorkflow(noting, { runtime: two, runId });
      const settled = await Promise.allSettled([one.enqueue("writer", { kind: "agent", runId }), second()]);
      const { kind } = await one.describeRun(runId);
      expect(settled.map(({ status }) => status)).toEqual(
        kind === "agent" ? ["fulfilled", "rejected"] : ["rejected", "fulfilled"],
      );
    }
  });

  test("a program that a worker has given back is not ended by a bare call with its run id", async () => {
    const { runtimeOn, effects, note, work } = await open();
    const first = runtimeOn();
    const begun = Promise.withResolvers<void>();
    const report = async ({ signal }: ProgramJob): Promise<void> => {
      begun.resolve();
      await once(signal, "abort");
    };
    const worker = createWorker({ runtime: first, programs: { report }, drainMs: 0 });
    await worker.start();
    await first.enqueue("report", { kind: "program", runId: "x" });
    await begun.promise;
    await worker.drain();
    const caller = runtimeOn();
    await expect(caller.call(note, { text: "call" }, { runId: "x" })).rejects.toMatchObject({
      code: "TOOL_RUN_TAKEN",
    });
    expect(await caller.describeRun("x")).toMatchObject({ status: "queued" });
    await work();
    expect(effects).toEqual(["enqueued"]);
    expect(await caller.describeRun("x")).toMatchObject({ status: "finished" });
  });

  test("a decided program still continues on a worker after a bare call with its run id was refused", async () => {
    const { runtimeOn, effects, note, pay, work } = await open();
    const runtime = runtimeOn();
    await runtime.enqueue("report", { kind: "program", runId: "x" });
    await work("program", pay);
    const [request] = await runtime.approvals({ status: "pending" });
    await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
    await expect(runtimeOn().call(note, { text: "call" }, { runId: "x" })).rejects.toMatchObject({
      code: "TOOL_RUN_TAKEN",
      message: expect.stringContaining('The program "report"'),
    });
    await work("program", pay);
    expect(effects).toEqual(["program"]);
    expect(await runtime.describeRun("x")).toMatchObject({ status: "finished" });
  });

  test("a decided agent still continues on a worker after a bare call with its run id was refused", async () => {
    const { runtimeOn, effects, note, pay, agentOn, work } = await open();
    const runtime = runtimeOn();
    await agentOn(runtime, "agent", pay).invoke({ runId: "x", ...GO });
    const [request] = await runtime.approvals({ status: "pending" });
    await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
    await expect(runtimeOn().call(note, { text: "call" }, { runId: "x" })).rejects.toMatchObject({
      code: "TOOL_RUN_TAKEN",
    });
    await work("agent", pay);
    expect(effects).toEqual(["agent"]);
    expect(await runtime.describeRun("x")).toMatchObject({ kind: "agent", status: "finished" });
  });
});
