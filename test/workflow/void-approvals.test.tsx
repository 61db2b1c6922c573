/** The end of a task voids the pending approvals of its calls, since their decision would have no effect. */
import { createRuntime, createSmithers, defineTool, runWorkflow, type WorkflowResult } from "toolwright";
import { createFakeClock, type ScriptedTurn } from "toolwright/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createStorePath, rowsOf, scriptedAgent, until } from "./harness.ts";

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

/** An order that needs approval, one with an inner call that does, and one that never ends. */
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
  const hanging = Promise.withResolvers<void>();
  const hang = defineTool({
    name: "hang",
    schema: z.object({}),
    execute: (_args, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("cut off")));
        hanging.resolve();
      }),
  });
  return { order, orderInside, hang, hanging: hanging.promise };
}

const calls = (...tools: readonly (readonly [string, object])[]): ScriptedTurn =>
  tools.map(([toolName, input]) => ({ toolName, input }));

const TIMEOUT_MS = 400;

/** A task that times out after three approval requests; when it is resumed, it has no time limit. */
function createTimedOut(dbPath: string, options: { retries?: number; continueOnFail?: boolean }) {
  const placed: string[] = [];
  const { order, orderInside, hang, hanging } = createTools(placed);
  const script: { turns: ScriptedTurn[] } = {
    turns: [
      calls(["order", { sku: "a" }], ["order", { sku: "b" }], ["order_inside", { sku: "c" }], ["hang", {}]),
    ],
  };
  const { agent } = scriptedAgent(
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
      <Task id="t" agent={agent} output={outputs.result} timeoutMs={TIMEOUT_MS} {...options}>
        Order.
      </Task>
      <Task id="after" output={outputs.step}>
        {{ at: "after" }}
      </Task>
    </Workflow>
  ));
  const run = async (): Promise<WorkflowResult> => {
    const clock = createFakeClock();
    await using runtime = createRuntime({ store: dbPath, clock });
    let hasEnded = false;
    const running = runWorkflow(workflow, { runtime, runId: "r" }).finally(() => {
      hasEnded = true;
    });
    await Promise.all([hanging, until(async () => (await requests(dbPath)).length === 3)]);
    await clock.advance(TIMEOUT_MS);
    // The delay before the next attempt starts when the failure of this one is stored.
    await until(async () => {
      await clock.advance(0);
      return hasEnded;
    });
    return running;
  };
  const resume = async (): Promise<WorkflowResult> => {
    await using runtime = createRuntime({ store: dbPath, clock: createFakeClock() });
    return await runWorkflow(workflow, { runtime, runId: "r", resume: true });
  };
  return { run, resume, placed, script };
}

describe("a task that failed for good", () => {
  it("leaves no pending approvals, not even of inner calls, and refuses a late decision", async () => {
    const dbPath = createStorePath();
    const { run, placed } = createTimedOut(dbPath, { retries: 0 });
    expect((await run()).status).toBe("failed");
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

  it("leaves none if the run continues without it either", async () => {
    const dbPath = createStorePath();
    const { run } = createTimedOut(dbPath, { retries: 0, continueOnFail: true });
    expect(await run()).toMatchObject({
      status: "finished",
      output: { at: "after" },
    });
    expect(await statuses(dbPath)).toEqual(["void", "void", "void"]);
  });

  it("requests approval again when its run is resumed, and the new decision counts once", async () => {
    const dbPath = createStorePath();
    const { run, resume, placed, script } = createTimedOut(dbPath, { retries: 0 });
    await run();
    script.turns = [calls(["order", { sku: "a" }]), '{"done":true}'];
    expect((await resume()).status).toBe("waiting-approval");
    expect(await statuses(dbPath)).toEqual(["void", "void", "void", "pending"]);
    await using runtime = createRuntime({ store: dbPath });
    const [request] = await runtime.approvals({ status: "pending" });
    await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
    expect((await resume()).status).toBe("finished");
    expect(placed).toEqual(["a in attempt 2, keyed"]);
  });

  it("gets no approval request from a late call", async () => {
    const dbPath = createStorePath();
    const asking = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<boolean>();
    const order = defineTool({
      name: "order",
      schema: z.object({}),
      sideEffect: true,
      needsApproval: () => {
        asking.resolve();
        return asked.promise;
      },
      execute: (_args, ctx) => ctx.idempotencyKey,
    });
    const { Workflow, Task, smithers } = createSmithers(schemas, { dbPath });
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" timeoutMs={TIMEOUT_MS} retries={0}>
          {() => order.execute({})}
        </Task>
      </Workflow>
    ));
    const clock = createFakeClock();
    const runtime = createRuntime({ store: dbPath, clock });
    const running = runWorkflow(workflow, { runtime, runId: "r" });
    await asking.promise;
    await clock.advance(TIMEOUT_MS);
    expect((await running).status).toBe("failed");
    asked.resolve(true);
    // The caller no longer receives anything; the runtime closes when the call has ended.
    await runtime[Symbol.asyncDispose]();
    expect(await requests(dbPath)).toEqual([]);
  });
});

describe("an attempt that failed", () => {
  it("leaves its requests to the next one: it is the same call", async () => {
    const dbPath = createStorePath();
    const { run, resume, placed, script } = createTimedOut(dbPath, { retries: 1 });
    script.turns.push(calls(["order", { sku: "a" }]), '{"done":true}');
    expect((await run()).status).toBe("waiting-approval");
    expect(await statuses(dbPath)).toEqual(["pending", "pending", "pending"]);
    await using runtime = createRuntime({ store: dbPath });
    const [first] = await runtime.approvals({ status: "pending" });
    await runtime.resolveToolApproval(first?.id ?? "", { approved: true });
    // Requests that the second attempt does not make again are void and block nothing.
    expect((await resume()).status).toBe("finished");
    expect(await statuses(dbPath)).toEqual(["approved", "void", "void"]);
    expect(placed).toEqual(["a in attempt 2, keyed"]);
  });
});

describe("a task that finished", () => {
  it("without the call that had requested approval leaves no request", async () => {
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

it("a task that is skipped later leaves no request", async () => {
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
