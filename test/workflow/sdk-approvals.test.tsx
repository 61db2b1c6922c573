/**
 * Approvals that an AI SDK agent requires itself: by `toolApproval`, or by a copy of a tool. Each resume drives the agent from its
 * start, where the SDK pauses again; the decision is in the store.
 */
import { generateText, isStepCount, type ModelMessage, Output, tool, ToolLoopAgent } from "ai";
import { createRuntime, createWorkflows, defineTool, runWorkflow, type RuntimeOptions } from "toolwright";
import { recordModel } from "toolwright/ai-sdk";
import { createScriptedModel, type ScriptedTurn } from "toolwright/testing";
import { expect, it, vi } from "vitest";
import { z } from "zod";
import { createStorePath } from "./harness.ts";

function createOrder(arrives: (sku: string) => Promise<void> | void = () => undefined) {
  const placed: string[] = [];
  const order = defineTool({
    name: "order",
    schema: z.object({ sku: z.string() }),
    sideEffect: true,
    execute: async ({ sku }, { idempotencyKey }) => {
      await arrives(sku);
      placed.push(sku);
      return { sku, key: idempotencyKey.length > 0 };
    },
  });
  return { order, placed };
}

type Order = ReturnType<typeof createOrder>["order"];
type Settings = (order: Order) => Readonly<Record<string, unknown>>;

const orderApple = [{ toolName: "order", input: { sku: "apple" } }];
const byAgent: Settings = (order) => ({ tools: { order }, toolApproval: { order: "user-approval" } });

async function startRun(
  settings: Settings,
  script: readonly ScriptedTurn[] = [orderApple, "Ordered."],
  options: Partial<RuntimeOptions> = {},
  arrives?: (sku: string) => Promise<void> | void,
) {
  const { order, placed } = createOrder(arrives);
  const model = createScriptedModel(script);
  const agent = new ToolLoopAgent({ model, ...(settings(order) as object) });
  const { Workflow, Task, workflow, outputs } = createWorkflows({ output: z.object({ text: z.string() }) });
  const shop = workflow(() => (
    <Workflow name="shop">
      <Task id="t" agent={agent} output={outputs.output} retries={0}>
        Order an apple.
      </Task>
    </Workflow>
  ));
  const runtime = createRuntime({ store: createStorePath(), ...options });
  const drive = (resume = false) =>
    runWorkflow(shop, { runtime, runId: "w", ...(resume ? { resume } : { input: {} }) });
  const decide = async (approved = true): Promise<void> => {
    for (const { id } of await runtime.approvals({ status: "pending" }))
      await runtime.resolveToolApproval(id, { approved });
  };
  return { runtime, model, placed, drive, decide };
}

const answered = '{"text":"Ordered."}';

const WAYS: Record<string, Settings> = {
  toolApproval: byAgent,
  "toolApproval, a function": (order) => ({
    tools: { order },
    toolApproval: () => ({ type: "user-approval", reason: "dear" }),
  }),
  "a copy with needsApproval": (order) => ({ tools: { order: { ...order, needsApproval: true } } }),
  "a copy with a condition of its own": (order) => ({
    tools: { order: { ...order, needsApproval: () => true } },
  }),
  "toolApproval, with a structured output": (order) => ({
    ...byAgent(order),
    output: Output.object({ schema: z.object({ text: z.string() }) }),
  }),
  "toolApproval, without the SDK's telemetry": (order) => ({
    ...byAgent(order),
    telemetry: { isEnabled: false },
  }),
};

it.each(Object.entries(WAYS))(
  "%s: the run waits, and an approved call runs once",
  async (_name, settings) => {
    const { runtime, model, placed, drive, decide } = await startRun(settings, [orderApple, answered]);
    await using _ = runtime;
    expect((await drive()).status).toBe("waiting-approval");
    expect(await runtime.approvals({ status: "pending" })).toMatchObject([
      { toolName: "order", args: { sku: "apple" } },
    ]);
    expect((await drive(true)).status).toBe("waiting-approval");
    expect(placed).toEqual([]);
    await decide();
    expect(await drive(true)).toMatchObject({ status: "finished", output: { text: "Ordered." } });
    expect(placed).toEqual(["apple"]);
    expect(model.requests).toHaveLength(2);
    expect(await runtime.calls()).toMatchObject([{ status: "success", approval: "approved" }]);
  },
);

it("a denied call does not run, and the model reads that", async () => {
  const { runtime, model, placed, drive, decide } = await startRun(byAgent, [orderApple, '{"text":"Not."}']);
  await using _ = runtime;
  await drive();
  await decide(false);
  expect(await drive(true)).toMatchObject({ status: "finished", output: { text: "Not." } });
  expect(placed).toEqual([]);
  expect(JSON.stringify(model.requests[1])).toMatch(/denied/i);
});

it("the message that lets the loop continue approves nothing, even if approvals in messages count", async () => {
  const silent: Settings = (order) => ({ ...byAgent(order), telemetry: { isEnabled: false } });
  const options = { trustMessageApprovals: true };
  const { runtime, placed, drive } = await startRun(silent, [orderApple, answered], options);
  await using _ = runtime;
  for (const resume of [false, true]) expect((await drive(resume)).status).toBe("waiting-approval");
  expect(placed).toEqual([]);
});

it("two equal calls, and a call of a later response: each waits for its own decision", async () => {
  const script = [[...orderApple, ...orderApple], orderApple, answered];
  const { runtime, model, placed, drive, decide } = await startRun(byAgent, script);
  await using _ = runtime;
  expect((await drive()).status).toBe("waiting-approval");
  expect(await runtime.approvals({ status: "pending" })).toHaveLength(2);
  await decide();
  expect((await drive(true)).status).toBe("waiting-approval");
  expect(placed).toEqual(["apple", "apple"]);
  expect(await runtime.approvals({ status: "pending" })).toHaveLength(1);
  await decide();
  expect((await drive(true)).status).toBe("finished");
  expect(placed).toHaveLength(3);
  expect(model.requests).toHaveLength(3);
});

it("calls that end in another order are the same request when the loop resumes", async () => {
  const pearIsStored = async (): Promise<boolean> =>
    (await runtime.calls()).some(({ status }) => status === "success");
  const arrives = async (sku: string): Promise<void> => {
    if (sku === "apple") await vi.waitUntil(pearIsStored, { timeout: 60_000 });
  };
  const orderPear = [{ toolName: "order", input: { sku: "pear" } }];
  const orderPlum = [{ toolName: "order", input: { sku: "plum" } }];
  const script = [[...orderApple, ...orderPear], orderPlum, answered];
  const { runtime, model, placed, drive, decide } = await startRun(byAgent, script, {}, arrives);
  await using _ = runtime;
  await drive();
  await decide();
  expect((await drive(true)).status).toBe("waiting-approval");
  expect(placed).toEqual(["pear", "apple"]);
  await decide();
  expect((await drive(true)).status).toBe("finished");
  expect(placed).toEqual(["pear", "apple", "plum"]);
  expect(model.requests).toHaveLength(3);
});

it("a custom agent continues with the messages that it gets", async () => {
  const { order, placed } = createOrder();
  const model = recordModel(createScriptedModel([orderApple, "Ordered."]));
  const agent = {
    generate: ({ messages }: { messages?: unknown }) =>
      generateText({
        model,
        messages: messages as ModelMessage[],
        tools: { order },
        toolApproval: { order: "user-approval" },
        stopWhen: isStepCount(5),
      }),
  };
  const { Workflow, Task, workflow } = createWorkflows({});
  const shop = workflow(() => (
    <Workflow name="shop">
      <Task id="t" agent={agent} retries={0}>
        Order an apple.
      </Task>
    </Workflow>
  ));
  await using runtime = createRuntime({ store: createStorePath() });
  expect((await runWorkflow(shop, { runtime, runId: "w", input: {} })).status).toBe("waiting-approval");
  const [request] = await runtime.approvals({ status: "pending" });
  await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
  expect((await runWorkflow(shop, { runtime, runId: "w", resume: true })).status).toBe("finished");
  expect(placed).toEqual(["apple"]);
});

it("a tool of another library that needs approval fails the task: its request could not be stored", async () => {
  const wiped: string[] = [];
  const wipe = tool({
    inputSchema: z.object({}),
    needsApproval: true,
    execute: () => {
      wiped.push("disk");
      return "wiped";
    },
  });
  const call = [{ toolName: "wipe", input: {} }];
  const { runtime, drive } = await startRun(() => ({ tools: { wipe } }), [call, answered]);
  await using _ = runtime;
  const { status, error } = await drive();
  expect(status).toBe("failed");
  expect(error?.message).toContain('Tool "wipe" needs approval, and it is a tool of another library');
  expect(wiped).toEqual([]);
});

it("rule 23: the model is not asked while a call inside of its call waits", async () => {
  const settings: Settings = (order) => ({
    tools: {
      shop: defineTool({
        name: "shop",
        schema: z.object({}),
        execute: () => ({ ...order, needsApproval: true }).execute({ sku: "apple" }),
      }),
    },
  });
  const call = [{ toolName: "shop", input: {} }];
  const { runtime, model, placed, drive, decide } = await startRun(settings, [call, answered]);
  await using _ = runtime;
  expect((await drive()).status).toBe("waiting-approval");
  expect(model.requests).toHaveLength(1);
  await decide();
  expect(await drive(true)).toMatchObject({ status: "finished", output: { text: "Ordered." } });
  expect(placed).toEqual(["apple"]);
  expect(model.requests).toHaveLength(2);
});

it.each(["prepareCall", "prepareStep"])("the model that %s chooses is recorded", async (where) => {
  const chosen = createScriptedModel([orderApple, answered]);
  const choose = (options: object) => ({ ...(where === "prepareCall" ? options : {}), model: chosen });
  const settings: Settings = (order) => ({ ...byAgent(order), [where]: choose });
  const { runtime, model, placed, drive, decide } = await startRun(settings, []);
  await using _ = runtime;
  expect((await drive()).status).toBe("waiting-approval");
  await decide();
  expect(await drive(true)).toMatchObject({ status: "finished", output: { text: "Ordered." } });
  expect(placed).toEqual(["apple"]);
  // The first response is replayed.
  expect([chosen.requests.length, model.requests.length]).toEqual([2, 0]);
});

it.each([undefined, null, "text", { response: null }, { response: { messages: "none" } }])(
  "an agent may return anything: %j",
  async (result) => {
    const agent = { generate: () => Promise.resolve(result) };
    const { Workflow, Task, workflow } = createWorkflows({});
    const write = workflow(() => (
      <Workflow name="write">
        <Task id="t" agent={agent} retries={0}>
          Write.
        </Task>
      </Workflow>
    ));
    await using runtime = createRuntime({ store: createStorePath() });
    expect((await runWorkflow(write, { runtime, runId: "w", input: {} })).status).toBe("finished");
  },
);

it("an agent of another library keeps its own settings", async () => {
  class Writer {
    readonly settings = { model: "house-model", prepareStep: () => ({}) };
    readonly #answer = "Done.";
    generate(): Promise<{ text: string }> {
      return Promise.resolve({ text: `${this.#answer} ${this.settings.model}` });
    }
  }
  const { Workflow, Task, workflow, outputs } = createWorkflows({ output: z.string() });
  const write = workflow(() => (
    <Workflow name="write">
      <Task id="t" agent={new Writer()} output={outputs.output} retries={0}>
        Write.
      </Task>
    </Workflow>
  ));
  await using runtime = createRuntime({ store: createStorePath() });
  expect(await runWorkflow(write, { runtime, runId: "w", input: {} })).toMatchObject({
    output: "Done. house-model",
  });
});
