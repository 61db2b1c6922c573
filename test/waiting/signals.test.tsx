/** Signals: buffered, used once, refused. In the project "on PostgreSQL" the same tests run on the other store. */
import { createRuntime, createWorkflows, type Runtime, runWorkflow, type WorkflowResult } from "toolwright";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { changeRows, createStorePath, rowsOf } from "../workflow/harness.ts";

const payment = z.object({ amount: z.number() });
const { Workflow, Task, Parallel, Loop, Signal, workflow, outputs } = createWorkflows({
  payment,
  done: z.object({ text: z.string() }),
});

const paying = workflow(() => (
  <Workflow name="pay">
    <Signal id="paid" name="paid" output={outputs.payment} />
  </Workflow>
));

interface Opened {
  readonly store: string;
  readonly runtime: Runtime;
  readonly start: (definition?: typeof paying, runId?: string) => Promise<WorkflowResult>;
  readonly resume: (definition?: typeof paying, runId?: string) => Promise<WorkflowResult>;
}

function open(): Opened {
  const store = createStorePath();
  const runtime = createRuntime({ store });
  onTestFinished(() => runtime.close());
  return {
    store,
    runtime,
    start: (definition = paying, runId = "r") => runWorkflow(definition, { runtime, runId }),
    resume: (definition = paying, runId = "r") => runWorkflow(definition, { runtime, runId, resume: true }),
  };
}

test("rule 40: a signal makes the waiting run ready, and is used with the output of its task", async () => {
  const { store, runtime, start, resume } = open();
  expect((await start()).status).toBe("waiting-signal");
  expect(await rowsOf(store, "SELECT ready_at_ms FROM toolwright_runs")).toEqual([{ ready_at_ms: null }]);
  expect(await runtime.signal("r", "paid", { amount: 17 })).toEqual({
    runId: "r",
    name: "paid",
    duplicate: false,
    awaited: true,
  });
  expect(await rowsOf(store, "SELECT is_due FROM toolwright_runs")).toEqual([{ is_due: 1 }]);
  expect((await runtime.explainRun("r")).because.join("\n")).toContain("which has arrived");
  expect(await resume()).toMatchObject({ status: "finished", output: { amount: 17 } });
  expect(await rowsOf(store, "SELECT node_id, refused_because FROM toolwright_signals")).toEqual([
    { node_id: "paid", refused_because: null },
  ]);
});

test("rule 40: a signal that comes while the run is about to wait is not lost", async () => {
  const { store, runtime, resume } = open();
  const sent: Promise<unknown>[] = [];
  const result = await runWorkflow(paying, {
    runtime,
    runId: "r",
    // The task has looked for signals, and the run has not ended its work yet.
    onProgress: (event) => {
      if (event.type === "task-changed" && event.status === "waiting")
        sent.push(runtime.signal("r", "paid", { amount: 1 }));
    },
  });
  expect(result.status).toBe("waiting-signal");
  expect(await Promise.all(sent)).toHaveLength(1);
  expect(await rowsOf(store, "SELECT is_due FROM toolwright_runs")).toEqual([{ is_due: 1 }]);
  expect((await resume()).status).toBe("finished");
});

test("a signal that comes before its task waits is kept, and signals are used in order", async () => {
  const { runtime, resume, start } = open();
  const twice = workflow(() => (
    <Workflow name="twice">
      <Signal id="first" name="go" />
      <Signal id="one" name="paid" output={outputs.payment} />
      <Signal id="two" name="paid" output={outputs.payment} />
    </Workflow>
  ));
  await start(twice);
  expect(await runtime.signal("r", "paid", { amount: 1 })).toMatchObject({ awaited: false });
  await runtime.signal("r", "paid", { amount: 2 });
  expect((await resume(twice)).status).toBe("waiting-signal");
  await runtime.signal("r", "go");
  const { status, outputs: stored } = await resume(twice);
  expect(status).toBe("finished");
  expect(stored["payment"]).toEqual([{ amount: 1 }, { amount: 2 }]);
});

test("two tasks that wait for one name get one signal each", async () => {
  const { runtime, start, resume, store } = open();
  const both = workflow(() => (
    <Workflow name="both">
      <Parallel>
        <Signal id="one" name="paid" output={outputs.payment} />
        <Signal id="two" name="paid" output={outputs.payment} />
      </Parallel>
    </Workflow>
  ));
  await start(both);
  await runtime.signal("r", "paid", { amount: 1 });
  expect((await resume(both)).status).toBe("waiting-signal");
  await runtime.signal("r", "paid", { amount: 2 });
  const { status, outputs: stored } = await resume(both);
  expect(status).toBe("finished");
  expect(stored["payment"]).toEqual([{ amount: 1 }, { amount: 2 }]);
  const nodes = await rowsOf(store, "SELECT DISTINCT node_id FROM toolwright_signals");
  expect(nodes).toHaveLength(2);
});

test("each pass of a loop takes the next signal", async () => {
  const { runtime, start } = open();
  const looping = workflow((ctx) => (
    <Workflow name="loop">
      <Signal id="start" name="start" />
      <Loop until={ctx.outputs("payment").length >= 3}>
        <Signal id="paid" name="paid" output={outputs.payment} />
      </Loop>
    </Workflow>
  ));
  await start(looping);
  for (const amount of [1, 2, 3]) await runtime.signal("r", "paid", { amount });
  await runtime.signal("r", "start");
  const result = await runWorkflow(looping, { runtime, runId: "r", resume: true });
  expect(result.status).toBe("finished");
  expect(result.outputs["payment"]).toEqual([{ amount: 1 }, { amount: 2 }, { amount: 3 }]);
});

test("a second signal with the same key is not stored, even after the first was used", async () => {
  const { runtime, start, resume, store } = open();
  const twice = workflow(() => (
    <Workflow name="twice">
      <Signal id="one" name="paid" output={outputs.payment} />
      <Signal id="two" name="paid" output={outputs.payment} />
    </Workflow>
  ));
  await start(twice);
  const send = (amount: number, key: string) => runtime.signal("r", "paid", { amount }, { key });
  expect((await send(1, "a")).duplicate).toBe(false);
  expect((await send(1, "a")).duplicate).toBe(true);
  expect((await resume(twice)).status).toBe("waiting-signal");
  expect((await send(1, "a")).duplicate).toBe(true);
  expect((await resume(twice)).status).toBe("waiting-signal");
  expect((await send(2, "b")).duplicate).toBe(false);
  expect((await resume(twice)).status).toBe("finished");
  expect(await rowsOf(store, "SELECT signal_key FROM toolwright_signals ORDER BY position")).toEqual([
    { signal_key: "a" },
    { signal_key: "b" },
  ]);
});

test("a payload against the schema is refused, and the run waits for another one", async () => {
  const { runtime, start, resume, store } = open();
  await start();
  await expect(runtime.signal("r", "paid", { amount: "17" })).rejects.toMatchObject({
    code: "WORKFLOW_SIGNAL_INVALID",
    message: expect.stringContaining("amount"),
  });
  await expect(runtime.signal("r", "paid")).rejects.toMatchObject({ code: "WORKFLOW_SIGNAL_INVALID" });
  expect(await rowsOf(store, "SELECT 1 AS one FROM toolwright_signals")).toEqual([]);
  expect((await runtime.describeRun("r")).status).toBe("waiting-signal");
  await runtime.signal("r", "paid", { amount: 17 });
  expect((await resume()).status).toBe("finished");
});

test("a signal that was sent too early to be checked is refused by its task, which waits on", async () => {
  const { runtime, start, resume, store } = open();
  const later = workflow(() => (
    <Workflow name="later">
      <Signal id="go" name="go" />
      <Signal
        id="paid"
        name="paid"
        schema={z.object({ even: z.number().refine((n) => n % 2 === 0, "odd") })}
      />
    </Workflow>
  ));
  const refused: unknown[] = [];
  runtime.subscribe((event) => {
    if (event.type === "signal-refused") refused.push(event.nodeId);
  });
  await start(later);
  await runtime.signal("r", "paid", { even: 3 });
  await runtime.signal("r", "go");
  expect((await resume(later)).status).toBe("waiting-signal");
  expect(refused).toEqual(["paid"]);
  const [row] = await rowsOf(store, "SELECT refused_because FROM toolwright_signals WHERE name = 'paid'");
  expect(row?.["refused_because"]).toContain("odd");
  expect((await runtime.explainRun("r")).because.join("\n")).toMatch(
    /A signal "paid", sent .*was not used: .*odd/,
  );
  // A refusal must not keep waking the run.
  expect(await rowsOf(store, "SELECT ready_at_ms FROM toolwright_runs")).toEqual([{ ready_at_ms: null }]);
  await runtime.signal("r", "paid", { even: 4 });
  expect((await resume(later)).status).toBe("finished");
});

test("a signal to a run that has ended is an error, and never revives it", async () => {
  const { runtime, start, resume, store } = open();
  await start();
  await runtime.signal("r", "paid", { amount: 1 });
  expect((await resume()).status).toBe("finished");
  await expect(runtime.signal("r", "paid", { amount: 2 })).rejects.toMatchObject({
    code: "WORKFLOW_RUN_OVER",
    message: 'Run "r" has finished, so it takes no more signals.',
  });
  const failing = workflow(() => (
    <Workflow name="fail">
      <Task id="fail" retries={0} output={outputs.done}>
        {() => {
          throw new Error("no");
        }}
      </Task>
    </Workflow>
  ));
  await start(failing, "failed");
  await expect(runtime.signal("failed", "paid")).rejects.toMatchObject({
    code: "WORKFLOW_RUN_OVER",
    message: expect.stringContaining("has failed, so"),
  });
  expect(await rowsOf(store, "SELECT name FROM toolwright_signals WHERE run_id = 'failed'")).toEqual([]);
  expect((await runtime.describeRun("failed")).status).toBe("failed");
});

test("a signal to an unknown run, to a run that is not a workflow, or with bad arguments is an error", async () => {
  const { runtime } = open();
  await expect(runtime.signal("nothing", "paid")).rejects.toMatchObject({ code: "TOOL_RUN_NOT_FOUND" });
  await runtime.run({ runId: "program" }, () => undefined);
  await expect(runtime.signal("program", "paid")).rejects.toMatchObject({ code: "TOOL_RUN_NOT_FOUND" });
  await expect(runtime.signal("r", "")).rejects.toMatchObject({ code: "TOOL_OPTION_INVALID" });
  await expect(runtime.signal("r", "paid", {}, { keys: "x" } as never)).rejects.toMatchObject({
    code: "TOOL_OPTION_INVALID",
    message: expect.stringContaining('"key"'),
  });
  await expect(runtime.signal("r", "paid", () => 1)).rejects.toMatchObject({
    code: "TOOL_OPTION_INVALID",
    message: expect.stringContaining("the payload cannot be stored"),
  });
});

const endTime = (store: string): Promise<void> =>
  changeRows(
    store,
    "UPDATE toolwright_waits SET due_at_ms = {now} - 1, started_at_ms = started_at_ms - 999999",
  );

test("after timeoutMs the run fails; a resume waits once more", async () => {
  const { runtime, start, resume, store } = open();
  const limited = workflow(() => (
    <Workflow name="limited">
      <Signal id="paid" name="paid" output={outputs.payment} timeoutMs={60_000} />
    </Workflow>
  ));
  await start(limited);
  await endTime(store);
  const { status, error } = await resume(limited);
  expect(status).toBe("failed");
  expect(error?.message).toContain('waited 60000 ms for the signal "paid"');
  expect(error?.details["code"]).toBe("WORKFLOW_SIGNAL_TIMEOUT");
  expect((await resume(limited)).status).toBe("waiting-signal");
  await runtime.signal("r", "paid", { amount: 1 });
  expect((await resume(limited)).status).toBe("finished");
});

test('with onTimeout="continue" the run continues without an output', async () => {
  const { start, resume, store } = open();
  const limited = workflow((ctx) => (
    <Workflow name="limited">
      <Signal id="paid" name="paid" output={outputs.payment} timeoutMs={60_000} onTimeout="continue" />
      <Task id="after" output={outputs.done}>
        {{ text: ctx.outputMaybe("payment", { nodeId: "paid" }) === undefined ? "unpaid" : "paid" }}
      </Task>
    </Workflow>
  ));
  await start(limited);
  await endTime(store);
  expect(await resume(limited)).toMatchObject({ status: "finished", output: { text: "unpaid" } });
});

test("a signal that was stored before the timeout is used, even if the time has passed since", async () => {
  const { runtime, start, resume, store } = open();
  const limited = workflow(() => (
    <Workflow name="limited">
      <Signal id="paid" name="paid" output={outputs.payment} timeoutMs={60_000} />
    </Workflow>
  ));
  await start(limited);
  await endTime(store);
  await runtime.signal("r", "paid", { amount: 5 });
  expect(await resume(limited)).toMatchObject({ status: "finished", output: { amount: 5 } });
});

test.each([
  [<Signal key="a" id="x" name="" />, "prop: name must be a non-empty string"],
  [<Signal key="b" id="x" name="go" schema={{} as never} />, "schema must be a Zod 4 schema"],
  [<Signal key="c" id="x" name="go" onTimeout={"skip" as never} />, '"fail" or "continue"'],
  [<Signal key="d" id="x" name="go" {...{ timeout: 5 }} />, 'Did you mean "timeoutMs"?'],
])("a wrong prop of <Signal> is refused by name", async (element, message) => {
  const { start } = open();
  const wrong = workflow(() => <Workflow name="wrong">{element}</Workflow>);
  const { status, error } = await start(wrong);
  expect(status).toBe("failed");
  expect(error?.message).toContain(message);
});
