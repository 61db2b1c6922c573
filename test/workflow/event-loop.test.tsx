/** Loops that never wait for I/O still let timers, signals and heartbeats through. */
import { createRuntime, createSmartAgent, createSmithers, defineTool, runWorkflow } from "toolwright";
import { createScriptedModel } from "toolwright/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { createStorePath, rowsOf } from "./harness.ts";

/** Aborts from a timer: if the event loop is blocked, it fires too late to stop anything. */
function abortByTimer(stop = new AbortController()): AbortSignal {
  setTimeout(() => stop.abort(new Error("the timer fired")), 1);
  return stop.signal;
}

test("a timer stops a loop of quick tasks", async () => {
  const stop = new AbortController();
  const { Workflow, Task, Loop, smithers, outputs } = createSmithers(
    { n: z.number() },
    { dbPath: createStorePath() },
  );
  const workflow = smithers((ctx) => (
    <Workflow name="w">
      <Loop until={false} maxIterations={3_000}>
        <Task id="t" output={outputs.n}>
          {() => {
            // Not before everything is loaded and opened.
            if (ctx.iteration === 10) abortByTimer(stop);
            return ctx.iteration;
          }}
        </Task>
      </Loop>
    </Workflow>
  ));
  const result = await runWorkflow(workflow, { signal: stop.signal });
  expect(result.status).toBe("cancelled");
});

test("a timer stops a loop whose passes contain no task", async () => {
  const { Workflow, Loop, smithers } = createSmithers({}, { dbPath: createStorePath() });
  const workflow = smithers(() => (
    <Workflow name="w">
      <Loop until={false} maxIterations={2_000}>
        <Loop until />
      </Loop>
    </Workflow>
  ));
  const result = await runWorkflow(workflow, { signal: abortByTimer() });
  expect(result.status).toBe("cancelled");
});

const pure = defineTool({
  name: "pure",
  schema: z.object({ n: z.number() }),
  sideEffect: true,
  execute: ({ n }) => n,
});

test("a timer fires while a program makes one call after the other", async () => {
  await using runtime = createRuntime({ store: createStorePath() });
  const signal = abortByTimer();
  let calls = 0;
  for (; calls < 3_000 && !signal.aborted; calls += 1) await runtime.call(pure, { n: calls }, { runId: "r" });
  expect(calls).toBeLessThan(3_000);
});

test("a timer stops a smart agent whose model answers immediately, live and from the log", async () => {
  await using runtime = createRuntime({ store: createStorePath() });
  let asked = 0;
  const model = createScriptedModel(
    [
      () => {
        asked += 1;
        return { toolCalls: [{ toolName: "pure", input: { n: asked } }] };
      },
    ],
    { atEnd: "repeat-last" },
  );
  const agent = createSmartAgent({ model, tools: [pure], runtime, limits: { maxToolCalls: 500 } });
  const input = { runId: "r", messages: [{ role: "user" as const, content: "count" }] };
  // Stopped while it is live, it replays its log the second time.
  const stop = new AbortController();
  const stopped = agent.invoke(input, {
    signal: stop.signal,
    onEvent: () => {
      if (asked === 200) stop.abort(new Error("enough"));
    },
  });
  await expect(stopped).rejects.toThrow(/enough/);
  await expect(agent.invoke(input, { signal: abortByTimer() })).rejects.toThrow(/the timer fired/);
  expect(asked).toBe(200);
});

test("a loop without maxIterations fails at 100 passes, and names the prop to set", async () => {
  const store = createStorePath();
  const { Workflow, Task, Ralph, smithers, outputs } = createSmithers({ n: z.number() }, { dbPath: store });
  const workflow = smithers((ctx) => (
    <Workflow name="w">
      <Ralph id="polish" until={false}>
        <Task id="t" output={outputs.n}>
          {() => ctx.iteration}
        </Task>
      </Ralph>
    </Workflow>
  ));
  const events: unknown[] = [];
  const result = await runWorkflow(workflow, {
    runId: "r",
    onProgress: (event) => events.push(event),
  });
  expect(result.status).toBe("failed");
  expect(result.error?.message).toMatch(/polish.*default limit of 100 iterations/);
  expect(result.error?.hint).toContain("maxIterations");
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "loop-limit-reached",
      name: '<Loop id="polish">',
      maxIterations: 100,
      onMaxReached: "fail",
    }),
  );
  expect(await rowsOf(store, "SELECT count(*) AS n FROM toolwright_tasks")).toEqual([{ n: 100 }]);
});

test("a loop without maxIterations continues after 100 passes if configured to", async () => {
  const { Workflow, Task, Loop, smithers, outputs } = createSmithers(
    { n: z.number(), output: z.string() },
    { dbPath: createStorePath() },
  );
  const workflow = smithers((ctx) => (
    <Workflow name="w">
      <Loop until={false} onMaxReached="return-last">
        <Task id="t" output={outputs.n}>
          {() => ctx.iteration}
        </Task>
      </Loop>
      <Task id="after" output={outputs.output}>
        done
      </Task>
    </Workflow>
  ));
  const result = await runWorkflow(workflow);
  expect(result).toMatchObject({ status: "finished", output: "done" });
  expect(result.outputs["n"]).toHaveLength(100);
});

test("a loop may run more often than the default with maxIterations", async () => {
  const { Workflow, Task, Loop, smithers, outputs } = createSmithers(
    { n: z.number() },
    { dbPath: createStorePath() },
  );
  const workflow = smithers((ctx) => (
    <Workflow name="w">
      <Loop until={ctx.outputs.n.length >= 150} maxIterations={Infinity}>
        <Task id="t" output={outputs.n}>
          {() => ctx.iteration}
        </Task>
      </Loop>
    </Workflow>
  ));
  expect((await runWorkflow(workflow)).outputs["n"]).toHaveLength(150);
});
