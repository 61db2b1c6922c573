/** Workflows from start to end: what runs, in which order, and what a resume reuses. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSmithers, defineTool, runWorkflow } from "toolwright";
import { createScriptedModel } from "toolwright/testing";
import { ToolLoopAgent } from "ai";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";

function createStore(): string {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-workflow-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "runs.db");
}

it("runs tasks in order, passes outputs on, and stores them", async () => {
  const { Workflow, Task, Parallel, smithers, outputs } = createSmithers(
    {
      input: z.object({ n: z.number() }),
      number: z.object({ value: z.number() }),
      output: z.object({ sum: z.number() }),
    },
    { dbPath: createStore() },
  );
  const workflow = smithers((ctx) => (
    <Workflow name="sums">
      <Parallel>
        <Task id="one" output={outputs.number}>
          {() => ({ value: ctx.input.n })}
        </Task>
        <Task id="two" output={outputs.number}>
          {{ value: 2 }}
        </Task>
      </Parallel>
      <Task id="sum" output={outputs.output} deps={{ one: outputs.number, two: outputs.number }}>
        {(deps: { one: { value: number }; two: { value: number } }) => ({
          sum: deps.one.value + deps.two.value,
        })}
      </Task>
    </Workflow>
  ));
  const result = await runWorkflow(workflow, { input: { n: 40 } });
  expect(result).toMatchObject({ status: "finished", output: { sum: 42 } });
  // In the order in which they ended, which is undefined for parallel tasks.
  expect(result.outputs["number"]).toHaveLength(2);
  expect(result.outputs["number"]).toEqual(expect.arrayContaining([{ value: 2 }, { value: 40 }]));
});

it("a failed run has the failed task and its error in details", async () => {
  const { Workflow, Task, smithers, outputs } = createSmithers(
    { output: z.object({}) },
    { dbPath: createStore() },
  );
  const workflow = smithers(() => (
    <Workflow name="fails">
      <Task id="pay" output={outputs.output} retries={1}>
        {() => {
          throw Object.assign(new Error("declined"), { code: "card_declined", hint: "Use another card." });
        }}
      </Task>
    </Workflow>
  ));
  const { error } = await runWorkflow(workflow);
  expect(error).toMatchObject({
    code: "WORKFLOW_TASK_FAILED",
    details: {
      task: "pay",
      iteration: 0,
      attempts: 2,
      code: "WORKFLOW_TASK_FAILED",
      hint: "Use another card.",
      details: { code: "card_declined" },
    },
  });
});

it("loops until the output of a task says so, with the number of the pass", async () => {
  const { Workflow, Task, Loop, smithers, outputs } = createSmithers(
    { step: z.object({ at: z.number() }) },
    { dbPath: createStore() },
  );
  const workflow = smithers((ctx) => (
    <Workflow name="loop">
      <Loop until={(ctx.latest(outputs.step, "step")?.at ?? 0) >= 2} maxIterations={10}>
        <Task id="step" output={outputs.step}>
          {{ at: ctx.iteration }}
        </Task>
      </Loop>
    </Workflow>
  ));
  const result = await runWorkflow(workflow);
  expect(result.status).toBe("finished");
  expect(result.outputs["step"]).toEqual([{ at: 0 }, { at: 1 }, { at: 2 }]);
});

it("resumes: finished tasks, responses and calls are not repeated", async () => {
  const dbPath = createStore();
  const placed: string[] = [];
  const stop = new AbortController();
  let stops = true;
  const order = defineTool({
    name: "order",
    schema: z.object({ sku: z.string() }),
    sideEffect: true,
    idempotent: false,
    execute: ({ sku }, ctx) => {
      placed.push(`${sku} ${ctx.idempotencyKey === null ? "" : "k"}`.trim());
      return { sku };
    },
  });
  const asked: string[] = [];
  const make = () => {
    const model = createScriptedModel(
      [
        ({ prompt }) => {
          const hasResult = JSON.stringify(prompt).includes("tool-result");
          asked.push(hasResult ? "second" : "first");
          if (!hasResult) return [{ toolName: "order", input: { sku: "a" } }];
          if (!stops) return '{"done":true}';
          stop.abort();
          return new Error("stopped");
        },
      ],
      { atEnd: "repeat-last" },
    );
    const agent = new ToolLoopAgent({ model, tools: { order } });
    const { Workflow, Task, smithers, outputs } = createSmithers(
      { result: z.object({ done: z.boolean() }) },
      { dbPath },
    );
    return smithers(() => (
      <Workflow name="orders">
        <Task id="order" output={outputs.result} agent={agent}>
          Order a.
        </Task>
      </Workflow>
    ));
  };
  const first = await runWorkflow(make(), { runId: "r1", signal: stop.signal });
  expect(first.status).toBe("cancelled");
  stops = false;
  const second = await runWorkflow(make(), { runId: "r1", resume: true });
  expect(second).toMatchObject({ status: "finished", output: { done: true } });
  expect(placed).toEqual(["a k"]);
  expect(asked.filter((turn) => turn === "first")).toHaveLength(1);
});
