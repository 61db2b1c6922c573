/** Tasks that wait for a time or a signal. In the project "on PostgreSQL" the same tests run on the other store. */
import { createFakeClock } from "toolwright/testing";
import { createRuntime, createWorkflows, type Runtime, runWorkflow, type WorkflowResult } from "toolwright";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { changeRows, createStorePath, rowsOf, until } from "../workflow/harness.ts";

const payment = z.object({ amount: z.number() });
const { Workflow, Task, Sequence, Parallel, Loop, Sleep, Signal, Approval, workflow, outputs } =
  createWorkflows({
    payment,
    done: z.object({ at: z.string() }),
  });

function open(store: string, options: object = {}): Runtime {
  const runtime = createRuntime({ store, ...options });
  onTestFinished(() => runtime.close());
  return runtime;
}

const napping = workflow(() => (
  <Workflow name="nap">
    <Sleep id="nap" for="2h" />
    <Task id="after" output={outputs.done}>
      {{ at: "morning" }}
    </Task>
  </Workflow>
));

/** The sleep has ended, as if two hours had passed. */
const endSleeps = (store: string): Promise<void> =>
  changeRows(
    store,
    "UPDATE toolwright_waits SET due_at_ms = {now} - 1, started_at_ms = started_at_ms - 7200001",
  );

test("a sleep ends the work of the process; its time is stored by the clock of the database", async () => {
  const store = createStorePath();
  const runtime = open(store);
  const result = await runWorkflow(napping, { runtime, runId: "r" });
  expect(result.status).toBe("waiting-timer");
  const [row] = await rowsOf(
    store,
    "SELECT kind, due_at_ms - started_at_ms AS ms, {now} - started_at_ms AS age FROM toolwright_waits",
  );
  expect(row).toMatchObject({ kind: "timer", ms: 7_200_000 });
  expect(Math.abs(Number(row?.["age"]))).toBeLessThan(60_000);
  const [marker] = await rowsOf(
    store,
    "SELECT r.ready_at_ms - w.due_at_ms AS early, r.is_due AS due FROM toolwright_runs r, toolwright_waits w",
  );
  expect(marker).toEqual({ early: 0, due: 0 });
});

test("a resume before the time waits for the same time; a resume after it continues, and the wait is gone", async () => {
  const store = createStorePath();
  const first = open(store);
  await runWorkflow(napping, { runtime: first, runId: "r" });
  await first.close();
  const [before] = await rowsOf(store, "SELECT due_at_ms FROM toolwright_waits");
  const runtime = open(store);
  const early = await runWorkflow(napping, { runtime, runId: "r", resume: true });
  expect(early.status).toBe("waiting-timer");
  expect(await rowsOf(store, "SELECT due_at_ms FROM toolwright_waits")).toEqual([before]);
  await endSleeps(store);
  const late = await runWorkflow(napping, { runtime, runId: "r", resume: true });
  expect(late).toMatchObject({ status: "finished", output: { at: "morning" } });
  expect(await rowsOf(store, "SELECT 1 AS one FROM toolwright_waits")).toEqual([]);
});

test("a changed duration does not move a sleep that has begun", async () => {
  const store = createStorePath();
  const runtime = open(store);
  await runWorkflow(napping, { runtime, runId: "r" });
  const longer = workflow(() => (
    <Workflow name="nap">
      <Sleep id="nap" for="10h" />
    </Workflow>
  ));
  await runWorkflow(longer, { runtime, runId: "r", resume: true });
  const [row] = await rowsOf(store, "SELECT due_at_ms - started_at_ms AS ms FROM toolwright_waits");
  expect(row).toEqual({ ms: 7_200_000 });
});

test("a clock that was set back to before the start leaves the whole duration, and no more", async () => {
  const store = createStorePath();
  const runtime = open(store);
  await runWorkflow(napping, { runtime, runId: "r" });
  // The start is now ten days ahead of the clock, as after a step back.
  await changeRows(
    store,
    "UPDATE toolwright_waits SET started_at_ms = started_at_ms + 864000000, due_at_ms = due_at_ms + 864000000",
  );
  await runWorkflow(napping, { runtime, runId: "r", resume: true });
  const [row] = await rowsOf(
    store,
    "SELECT due_at_ms - started_at_ms AS ms, {now} - started_at_ms AS age FROM toolwright_waits",
  );
  expect(row?.["ms"]).toBe(7_200_000);
  expect(Math.abs(Number(row?.["age"]))).toBeLessThan(60_000);
});

test("until a date: one in the past does not wait, one in a hundred years does", async () => {
  const store = createStorePath();
  const runtime = open(store);
  const sleeper = (date: Date | number) =>
    workflow(() => (
      <Workflow name="date">
        <Sleep id="nap" until={date} />
      </Workflow>
    ));
  expect((await runWorkflow(sleeper(new Date(0)), { runtime })).status).toBe("finished");
  const far = Date.now() + 36_000 * 86_400_000;
  const result = await runWorkflow(sleeper(far), { runtime, runId: "far" });
  expect(result.status).toBe("waiting-timer");
  expect(await rowsOf(store, "SELECT due_at_ms FROM toolwright_waits")).toEqual([{ due_at_ms: far }]);
  const { because } = await runtime.explainRun("far");
  expect(because.join("\n")).toContain(`until ${new Date(far).toISOString()}`);
});

test("a date that a task computes may be missing at first", async () => {
  const runtime = open(createStorePath());
  const computed = workflow((ctx) => {
    const at = ctx.outputMaybe("done", { nodeId: "plan" })?.at;
    return (
      <Workflow name="computed">
        <Task id="plan" output={outputs.done}>
          {{ at: "2020-01-01T00:00:00Z" }}
        </Task>
        <Sleep id="nap" until={at === undefined ? undefined : new Date(at)} />
      </Workflow>
    );
  });
  expect((await runWorkflow(computed, { runtime })).status).toBe("finished");
  const never = workflow(() => (
    <Workflow name="never">
      <Sleep id="nap" until={undefined} />
    </Workflow>
  ));
  const { status, error } = await runWorkflow(never, { runtime });
  expect(status).toBe("failed");
  expect(error?.message).toContain('<Sleep id="nap"> begins, and its for or until has no value.');
});

test("a runtime with its own clock sleeps by that clock", async () => {
  const clock = createFakeClock();
  const runtime = open(createStorePath(), { clock });
  const run = (resume: boolean): Promise<WorkflowResult> =>
    runWorkflow(napping, { runtime, runId: "r", resume });
  expect((await run(false)).status).toBe("waiting-timer");
  await clock.advance(7_199_999);
  expect((await run(true)).status).toBe("waiting-timer");
  await clock.advance(1);
  expect((await run(true)).status).toBe("finished");
});

test("while other tasks run, tasks after a sleep or a signal do not wait for them", async () => {
  const store = createStorePath();
  const runtime = open(store);
  const release = Promise.withResolvers<void>();
  const events: string[] = [];
  const note = (name: string) => () => {
    events.push(name);
    return { at: name };
  };
  const beside = workflow(() => (
    <Workflow name="beside">
      <Parallel>
        <Task id="long" output={outputs.done}>
          {async () => {
            await release.promise;
            return { at: "long" };
          }}
        </Task>
        <Sequence>
          <Sleep id="nap" for="50ms" />
          <Task id="slept" output={outputs.done}>
            {note("slept")}
          </Task>
        </Sequence>
        <Sequence>
          <Signal id="wait" name="go" />
          <Task id="told" output={outputs.done}>
            {note("told")}
          </Task>
        </Sequence>
      </Parallel>
    </Workflow>
  ));
  const running = runWorkflow(beside, { runtime, runId: "r" });
  await until(() => events.includes("slept"));
  await runtime.signal("r", "go");
  await until(() => events.includes("told"));
  release.resolve();
  expect((await running).status).toBe("finished");
  expect(events).toEqual(["slept", "told"]);
});

test("each pass of a loop has its own sleep", async () => {
  const store = createStorePath();
  const runtime = open(store);
  const looping = workflow((ctx) => (
    <Workflow name="loop">
      <Loop until={ctx.outputs("done").length >= 2}>
        <Sleep id="nap" for="1h" />
        <Task id="work" output={outputs.done}>
          {{ at: `pass ${ctx.iteration}` }}
        </Task>
      </Loop>
    </Workflow>
  ));
  const resume = (): Promise<WorkflowResult> => runWorkflow(looping, { runtime, runId: "r", resume: true });
  await runWorkflow(looping, { runtime, runId: "r" });
  await endSleeps(store);
  expect((await resume()).status).toBe("waiting-timer");
  expect(await rowsOf(store, "SELECT node_id, path FROM toolwright_waits")).toEqual([
    { node_id: "nap", path: "1" },
  ]);
  await endSleeps(store);
  expect(await resume()).toMatchObject({ status: "finished", output: { at: "pass 1" } });
});

test("the status says who can end the wait: a person, then a sender, then the time", async () => {
  const store = createStorePath();
  const runtime = open(store);
  const mixed = workflow(() => (
    <Workflow name="mixed">
      <Parallel>
        <Sleep id="nap" for="1h" />
        <Signal id="paid" name="paid" />
        <Approval id="ask" prompt="Ship it?" />
      </Parallel>
    </Workflow>
  ));
  expect((await runWorkflow(mixed, { runtime, runId: "r" })).status).toBe("waiting-approval");
  expect((await runtime.explainRun("r")).because.join("\n")).toMatch(
    /Task "nap" sleeps until .*\n.*signal "paid"/,
  );
  const [request] = await runtime.approvals({ runId: "r", status: "pending" });
  await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
  const resume = (): Promise<WorkflowResult> => runWorkflow(mixed, { runtime, runId: "r", resume: true });
  expect((await resume()).status).toBe("waiting-signal");
  await runtime.signal("r", "paid");
  expect((await resume()).status).toBe("waiting-timer");
  await endSleeps(store);
  expect((await resume()).status).toBe("finished");
});

test("lists, descriptions and explanations name the time and the signal", async () => {
  const runtime = open(createStorePath());
  const waiting = workflow(() => (
    <Workflow name="waiting">
      <Signal id="paid" name="payment" timeoutMs={3_600_000} />
    </Workflow>
  ));
  await runWorkflow(napping, { runtime, runId: "sleeper" });
  await runWorkflow(waiting, { runtime, runId: "waiter" });
  const { runs } = await runtime.runs({});
  const whyOf = (id: string): string => runs.find(({ runId }) => runId === id)?.why ?? "";
  expect(whyOf("sleeper")).toMatch(/^It sleeps until 20\d\d-.*Z\.$/);
  expect(whyOf("waiter")).toMatch(/^It waits for the signal "payment" until 20\d\d-.*Z\.$/);
  const sleeper = await runtime.describeRun("sleeper");
  expect(sleeper).toMatchObject({
    status: "waiting-timer",
    waits: [{ nodeId: "nap", kind: "timer", isOver: false }],
  });
  expect(sleeper.tree[0]).toMatchObject({ nodeId: "nap", status: "waiting" });
  const explained = await runtime.explainRun("waiter");
  expect(explained.status).toBe("waiting-signal");
  expect(explained.because.join("\n")).toContain('Task "paid" waits for the signal "payment"');
  expect(explained.next[0]?.command).toContain("signal waiter payment --payload '{}'");
});

test("the wait of a task that was removed from the workflow does not wake the run", async () => {
  const store = createStorePath();
  const runtime = open(store);
  await runWorkflow(napping, { runtime, runId: "r" });
  await endSleeps(store);
  const changed = workflow(() => (
    <Workflow name="nap">
      <Signal id="other" name="go" />
    </Workflow>
  ));
  const result = await runWorkflow(changed, { runtime, runId: "r", resume: true, acceptChanges: true });
  expect(result.status).toBe("waiting-signal");
  expect(await rowsOf(store, "SELECT node_id FROM toolwright_waits")).toEqual([{ node_id: "other" }]);
  expect(await rowsOf(store, "SELECT ready_at_ms FROM toolwright_runs")).toEqual([{ ready_at_ms: null }]);
});

test("a run that was stopped while it slept keeps its time", async () => {
  const store = createStorePath();
  const runtime = open(store);
  const release = Promise.withResolvers<void>();
  const stop = new AbortController();
  const beside = workflow(() => (
    <Workflow name="beside">
      <Parallel>
        <Sleep id="nap" for="1h" />
        <Task id="long" output={outputs.done}>
          {async () => {
            release.resolve();
            await new Promise((_, reject) => {
              stop.signal.addEventListener("abort", () => reject(new Error("stopped")));
            });
            return { at: "never" };
          }}
        </Task>
      </Parallel>
    </Workflow>
  ));
  const running = runWorkflow(beside, { runtime, runId: "r", signal: stop.signal });
  await release.promise;
  await until(async () => (await rowsOf(store, "SELECT 1 AS one FROM toolwright_waits")).length === 1);
  const before = await rowsOf(store, "SELECT due_at_ms FROM toolwright_waits");
  stop.abort();
  expect((await running).status).toBe("cancelled");
  expect(await rowsOf(store, "SELECT due_at_ms FROM toolwright_waits")).toEqual(before);
});
