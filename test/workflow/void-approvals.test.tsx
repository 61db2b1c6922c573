/** The end of a task voids the requests that its calls still wait for: nobody is asked about what cannot happen any more. */
import { createRuntime, createSmithers, defineTool, runWorkflow } from "toolwright";
import type { ScriptedTurn } from "toolwright/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createStorePath, rowsOf, scriptedAgent } from "./harness.ts";

const schemas = { result: z.object({ done: z.boolean() }), step: z.object({ at: z.string() }) };

interface Request {
  readonly id: string;
  readonly kind: string;
  readonly tool_name: string;
  readonly status: string;
}

async function requests(dbPath: string): Promise<Request[]> {
  const rows = await rowsOf(
    dbPath,
    "SELECT id, kind, tool_name, status FROM toolwright_approvals ORDER BY position",
  );
  return rows as unknown as Request[];
}

async function statuses(dbPath: string): Promise<string[]> {
  return (await requests(dbPath)).map(({ status }) => status);
}

/** An order that a person has to allow, one that asks from inside, and one that never ends. */
function createTools(placed: string[] = []) {
  const order = defineTool({
    name: "order",
    schema: z.object({ sku: z.string() }),
    sideEffect: true,
    needsApproval: true,
    execute: ({ sku }, ctx) => {
      placed.push(`${sku} in attempt ${ctx.attempt}, ${ctx.idempotencyKey === null ? "no key" : "keyed"}`);
      return { sku };
    },
  });
  const orderInside = defineTool({
    name: "order_inside",
    schema: z.object({ sku: z.string() }),
    execute: async ({ sku }) => order.execute({ sku }),
  });
  const hang = defineTool({
    name: "hang",
    schema: z.object({}),
    execute: (_args, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("cut off")))),
  });
  return { order, orderInside, hang };
}

const calls = (...tools: readonly (readonly [string, object])[]): ScriptedTurn =>
  tools.map(([toolName, input]) => ({ toolName, input }));

function createTimedOut(dbPath: string, options: { retries?: number; continueOnFail?: boolean }) {
  const placed: string[] = [];
  const { order, orderInside, hang } = createTools(placed);
  const script: { turns: ScriptedTurn[] } = {
    turns: [
      calls(["order", { sku: "a" }], ["order", { sku: "b" }], ["order_inside", { sku: "c" }], ["hang", {}]),
    ],
  };
  const { agent, model } = scriptedAgent(
    [
      (request) => {
        const turn = script.turns[0] ?? "";
        if (script.turns.length > 1) script.turns.shift();
        return typeof turn === "function" ? turn(request) : turn;
      },
    ],
    { tools: { order, order_inside: orderInside, hang } },
  );
  const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
  const workflow = smithers(() => (
    <Workflow name="w">
      <Task id="t" agent={agent} output={outputs.result} timeoutMs={400} {...options}>
        Order.
      </Task>
      <Task id="after" output={outputs.step}>
        {{ at: "after" }}
      </Task>
    </Workflow>
  ));
  return { workflow, placed, script, model };
}

describe("a task that failed for good", () => {
  it("leaves no open requests, those of inner calls included, and a late decision is told so", async () => {
    const dbPath = createStorePath();
    const { workflow, placed } = createTimedOut(dbPath, { retries: 0 });
    expect((await runWorkflow(workflow, { runId: "r" })).status).toBe("failed");
    expect(await statuses(dbPath)).toEqual(["void", "void", "void"]);
    await using runtime = createRuntime({ store: dbPath });
    expect(await runtime.approvals({ status: "pending" })).toEqual([]);
    for (const { id } of await requests(dbPath)) {
      await expect(runtime.resolveToolApproval(id, { approved: true })).rejects.toMatchObject({
        code: "TOOL_APPROVAL_SETTLED",
        message: expect.stringMatching(/its task has ended/) as string,
      });
    }
    expect(placed).toEqual([]);
  });

  it("leaves none where the run goes on without it either", async () => {
    const dbPath = createStorePath();
    const { workflow } = createTimedOut(dbPath, { retries: 0, continueOnFail: true });
    expect(await runWorkflow(workflow, { runId: "r" })).toMatchObject({
      status: "finished",
      output: { at: "after" },
    });
    expect(await statuses(dbPath)).toEqual(["void", "void", "void"]);
  });

  it("asks anew when its run is resumed, and the new decision counts once", async () => {
    const dbPath = createStorePath();
    const { workflow, placed, script } = createTimedOut(dbPath, { retries: 0 });
    await runWorkflow(workflow, { runId: "r" });
    script.turns = [calls(["order", { sku: "a" }]), '{"done":true}'];
    expect((await runWorkflow(workflow, { runId: "r", resume: true })).status).toBe("waiting-approval");
    expect(await statuses(dbPath)).toEqual(["void", "void", "void", "pending"]);
    await using runtime = createRuntime({ store: dbPath });
    const [request] = await runtime.approvals({ status: "pending" });
    await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
    expect((await runWorkflow(workflow, { runId: "r", resume: true })).status).toBe("finished");
    expect(placed).toEqual(["a in attempt 2, keyed"]);
  });

  it("is not asked about by a call of it that comes too late", async () => {
    const dbPath = createStorePath();
    const asked = Promise.withResolvers<boolean>();
    const order = defineTool({
      name: "order",
      schema: z.object({}),
      sideEffect: true,
      needsApproval: () => asked.promise,
      execute: (_args, ctx) => ctx.idempotencyKey,
    });
    const { Workflow, Task, smithers } = createSmithers(schemas, { dbPath });
    let call: Promise<unknown> = Promise.resolve();
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" timeoutMs={100} retries={0}>
          {() => (call = order.execute({}).catch(() => "refused"))}
        </Task>
      </Workflow>
    ));
    await using runtime = createRuntime({ store: dbPath });
    expect((await runWorkflow(workflow, { runtime, runId: "r" })).status).toBe("failed");
    asked.resolve(true);
    await Promise.race([call, new Promise((resolve) => setTimeout(resolve, 200))]);
    expect(await requests(dbPath)).toEqual([]);
  });
});

describe("an attempt that failed", () => {
  it("leaves its requests to the next one: it is the same call", async () => {
    const dbPath = createStorePath();
    const { workflow, placed, script } = createTimedOut(dbPath, { retries: 1 });
    script.turns.push(calls(["order", { sku: "a" }]), '{"done":true}');
    expect((await runWorkflow(workflow, { runId: "r" })).status).toBe("waiting-approval");
    expect(await statuses(dbPath)).toEqual(["pending", "pending", "pending"]);
    await using runtime = createRuntime({ store: dbPath });
    const [first] = await runtime.approvals({ status: "pending" });
    await runtime.resolveToolApproval(first?.id ?? "", { approved: true });
    // What the second attempt does not ask for is nobody's business any more, and keeps nobody waiting.
    expect((await runWorkflow(workflow, { runId: "r", resume: true })).status).toBe("finished");
    expect(await statuses(dbPath)).toEqual(["approved", "void", "void"]);
    expect(placed).toEqual(["a in attempt 2, keyed"]);
  });
});

describe("a task that finished", () => {
  it("without the call that it had asked for leaves no request", async () => {
    const dbPath = createStorePath();
    const { order } = createTools();
    const { Workflow, Task, Loop, smithers, outputs } = createSmithers(schemas, { dbPath });
    const workflow = smithers(() => (
      <Workflow name="w">
        <Loop until={false} maxIterations={2}>
          <Task id="t" output={outputs.step}>
            {async () => ({
              at: await order.execute({ sku: "a" }).then(
                ({ sku }) => sku,
                () => "without",
              ),
            })}
          </Task>
        </Loop>
      </Workflow>
    ));
    const result = await runWorkflow(workflow, { runId: "r" });
    expect(result.outputs["step"]).toEqual([{ at: "without" }, { at: "without" }]);
    expect(await statuses(dbPath)).toEqual(["void", "void"]);
  });

  it("does not touch the requests of other tasks", async () => {
    const dbPath = createStorePath();
    const { order } = createTools();
    const { Workflow, Task, Parallel, smithers, outputs } = createSmithers(schemas, { dbPath });
    const workflow = smithers(() => (
      <Workflow name="w">
        <Parallel>
          <Task id="waits" output={outputs.step}>
            {async () => ({ at: (await order.execute({ sku: "a" })).sku })}
          </Task>
          <Task id="does-not" output={outputs.step}>
            {async () => ({
              at: await order.execute({ sku: "a" }).then(
                ({ sku }) => sku,
                () => "without",
              ),
            })}
          </Task>
        </Parallel>
      </Workflow>
    ));
    expect((await runWorkflow(workflow, { runId: "r" })).status).toBe("waiting-approval");
    await using runtime = createRuntime({ store: dbPath });
    expect(await runtime.approvals({ status: "pending" })).toMatchObject([{ nodeId: "waits" }]);
  });
});

it("a task that is skipped after all is not asked about any more", async () => {
  const dbPath = createStorePath();
  const { Workflow, Task, smithers } = createSmithers(schemas, { dbPath });
  let skips = false;
  const workflow = smithers(() => (
    <Workflow name="w">
      <Task id="t" needsApproval skipIf={skips}>
        {1}
      </Task>
    </Workflow>
  ));
  expect((await runWorkflow(workflow, { runId: "r" })).status).toBe("waiting-approval");
  skips = true;
  expect((await runWorkflow(workflow, { runId: "r", resume: true })).status).toBe("finished");
  expect(await requests(dbPath)).toMatchObject([{ kind: "task", status: "void" }]);
});
