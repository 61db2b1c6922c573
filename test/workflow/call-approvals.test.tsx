/** A call that waits for approval pauses the run; the decision may come from anywhere, and the run resumes with it. */
import { createRuntime, createSmithers, defineTool, runWorkflow } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createStorePath, rowsOf, scriptedAgent } from "./harness.ts";

const schemas = { result: z.object({ done: z.boolean() }), step: z.object({ at: z.string() }) };

function createScenario() {
  const dbPath = createStorePath();
  const placed: string[] = [];
  const asked: number[] = [];
  const told: string[] = [];
  const order = defineTool({
    name: "order",
    schema: z.object({ sku: z.string() }),
    sideEffect: true,
    idempotent: false,
    needsApproval: true,
    execute: ({ sku }, ctx) => {
      placed.push(`${sku} ${ctx.attempt}`);
      return { sku };
    },
  });
  const make = () => {
    const { agent } = scriptedAgent(
      [
        ({ prompt }) => {
          const turn = prompt.filter(({ role }) => role === "assistant").length;
          asked.push(turn);
          if (turn === 0)
            return [
              { toolName: "order", input: { sku: "a" } },
              { toolName: "order", input: { sku: "b" } },
            ];
          told.push(JSON.stringify(prompt.at(-1)));
          return '{"done":true}';
        },
      ],
      { tools: { order } },
    );
    const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
    return smithers(() => (
      <Workflow name="w">
        <Task id="t" agent={agent} output={outputs.result}>
          Order a and b.
        </Task>
        <Task id="after" output={outputs.step}>
          {{ at: "after" }}
        </Task>
      </Workflow>
    ));
  };
  const decide = async (decisions: Readonly<Record<string, boolean>>): Promise<void> => {
    await using runtime = createRuntime({ store: dbPath });
    for (const { id, args } of await runtime.approvals({ status: "pending" })) {
      const approved = decisions[(args as { sku: string }).sku];
      if (approved !== undefined) await runtime.resolveToolApproval(id, { approved, comment: "I say so" });
    }
  };
  return { dbPath, placed, asked, told, order, make, decide };
}

it("a call that waits for approval pauses the run, which then has no owner", async () => {
  const { dbPath, make, placed, asked } = createScenario();
  const result = await runWorkflow(make(), { runId: "r" });
  expect(result).toMatchObject({ status: "waiting-approval", error: undefined });
  expect(placed).toEqual([]);
  expect(asked).toEqual([0]);
  expect(await rowsOf(dbPath, "SELECT status, owner_id FROM toolwright_workflow_runs")).toEqual([
    { status: "waiting-approval", owner_id: null },
  ]);
  await using runtime = createRuntime({ store: dbPath });
  expect(await runtime.approvals({ status: "pending", runId: "r" })).toHaveLength(2);
});

it("an approved call runs once, a denied one is reported to the model, and no response is requested again", async () => {
  const { make, placed, asked, told, decide } = createScenario();
  await runWorkflow(make(), { runId: "r" });
  await decide({ a: true, b: false });
  const result = await runWorkflow(make(), { runId: "r", resume: true });
  expect(result).toMatchObject({ status: "finished", output: { at: "after" } });
  expect(placed).toEqual(["a 1"]);
  expect(asked).toEqual([0, 1]);
  expect(told[0]).toMatch(/denied/i);
  expect(told[0]).toContain("I say so");
});

it("a resume before all decisions pauses again and repeats nothing", async () => {
  const { make, placed, asked, decide } = createScenario();
  await runWorkflow(make(), { runId: "r" });
  expect((await runWorkflow(make(), { runId: "r", resume: true })).status).toBe("waiting-approval");
  await decide({ a: true });
  expect((await runWorkflow(make(), { runId: "r", resume: true })).status).toBe("waiting-approval");
  await decide({ b: true });
  expect((await runWorkflow(make(), { runId: "r", resume: true })).status).toBe("finished");
  expect(placed.toSorted()).toEqual(["a 1", "b 1"]);
  expect(asked).toEqual([0, 1]);
});

it("tasks that run parallel to a waiting call finish, and waiting agents send no request again", async () => {
  const dbPath = createStorePath();
  let generated = 0;
  const order = defineTool({
    name: "order",
    schema: z.object({}),
    sideEffect: true,
    needsApproval: true,
    execute: (_args, ctx) => ctx.idempotencyKey,
  });
  const { agent, model } = scriptedAgent(
    [
      ({ prompt }) => {
        generated += 1;
        return prompt.length > 1 ? '{"done":true}' : [{ toolName: "order", input: {} }];
      },
    ],
    { tools: { order } },
  );
  const { Workflow, Task, Parallel, Sequence, smithers, outputs } = createSmithers(schemas, { dbPath });
  const workflow = smithers((ctx) => (
    <Workflow name={`w ${ctx.outputs.step.length}`}>
      <Parallel>
        <Task id="t" agent={agent} output={outputs.result}>
          Order.
        </Task>
        <Sequence>
          {["a", "b", "c"].map((id) => (
            <Task id={id} output={outputs.step}>
              {async () => {
                await new Promise((resolve) => setTimeout(resolve, 20));
                return { at: id };
              }}
            </Task>
          ))}
        </Sequence>
      </Parallel>
    </Workflow>
  ));
  const events: string[] = [];
  const result = await runWorkflow(workflow, {
    runId: "r",
    onProgress: (event) => {
      if (event.type === "task-changed" && event.nodeId === "t") events.push(event.status);
    },
  });
  expect(result.status).toBe("waiting-approval");
  expect(result.outputs["step"]).toHaveLength(3);
  expect([generated, model.requests.length]).toEqual([1, 1]);
  expect(events).toEqual(["running", "waiting"]);
});

it("a waiting call of a function pauses the run too, without using up attempts", async () => {
  const { dbPath, order, placed, decide } = createScenario();
  const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
  const workflow = smithers(() => (
    <Workflow name="w">
      <Task id="t" output={outputs.step}>
        {async () => ({ at: (await order.execute({ sku: "a" })).sku })}
      </Task>
    </Workflow>
  ));
  expect((await runWorkflow(workflow, { runId: "r" })).status).toBe("waiting-approval");
  await decide({ a: true });
  expect(await runWorkflow(workflow, { runId: "r", resume: true })).toMatchObject({
    status: "finished",
    output: { at: "a" },
  });
  expect(placed).toEqual(["a 1"]);
});

it("a call with an unknown outcome pauses the run", async () => {
  const dbPath = createStorePath();
  const stop = new AbortController();
  let placed = 0;
  const blind = defineTool({
    name: "blind",
    schema: z.object({}),
    sideEffect: true,
    acceptsIdempotencyKey: false,
    execute: () => {
      placed += 1;
      stop.abort();
      return new Promise<number>(() => undefined);
    },
  });
  const make = () => {
    const { agent } = scriptedAgent(
      [({ prompt }) => (prompt.length > 1 ? '{"done":true}' : [{ toolName: "blind", input: {} }])],
      { tools: { blind } },
    );
    const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
    return smithers(() => (
      <Workflow name="w">
        <Task id="t" agent={agent} output={outputs.result}>
          Order.
        </Task>
      </Workflow>
    ));
  };
  expect((await runWorkflow(make(), { runId: "r", signal: stop.signal })).status).toBe("cancelled");
  await using runtime = createRuntime({ store: dbPath });
  const [call] = await runtime.calls({ runId: "r" });
  expect(call?.status).toBe("unknown");
  expect((await runWorkflow(make(), { runId: "r", resume: true })).status).toBe("waiting-approval");
  const [request] = await runtime.approvals({ status: "pending" });
  expect(request?.kind).toBe("replay");
  await runtime.resolveToolApproval(request?.id ?? "", { approved: true, happened: { output: 1 } });
  expect((await runWorkflow(make(), { runId: "r", resume: true })).status).toBe("finished");
  expect(placed).toBe(1);
});

it("a decision before the agent has stopped is not lost", async () => {
  const { dbPath, placed, order } = createScenario();
  await using runtime = createRuntime({ store: dbPath });
  const decided = Promise.withResolvers<unknown>();
  runtime.subscribe((event) => {
    if (event.type === "approval-requested")
      decided.resolve(runtime.resolveToolApproval(event.approvalId, { approved: true }));
  });
  const wait = defineTool({
    name: "wait",
    schema: z.object({}),
    execute: () => decided.promise.then(() => 1),
  });
  const { agent, model } = scriptedAgent(
    [
      ({ prompt }) =>
        prompt.length > 1
          ? '{"done":true}'
          : [
              { toolName: "order", input: { sku: "a" } },
              { toolName: "wait", input: {} },
            ],
    ],
    { tools: { order, wait } },
  );
  const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
  const workflow = smithers(() => (
    <Workflow name="w">
      <Task id="t" agent={agent} output={outputs.result}>
        Order.
      </Task>
    </Workflow>
  ));
  expect((await runWorkflow(workflow, { runtime, runId: "r" })).status).toBe("waiting-approval");
  expect((await runWorkflow(workflow, { runtime, runId: "r", resume: true })).status).toBe("finished");
  expect(placed).toEqual(["a 1"]);
  expect(model.requests).toHaveLength(2);
});
