/** AI SDK decisions that do not call the tool are stored too. */
import { generateText, isStepCount, type ModelMessage, streamText } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createRuntime, defineTool, type Runtime, type Tool } from "../../src/index.ts";
import { toAISDKTools, toolwrightTelemetry } from "../../src/adapters/ai-sdk/index.ts";
import { createScriptedModel, type ScriptedTurn } from "../../src/testing/index.ts";

function createPay(needsApproval?: boolean) {
  const paid: number[] = [];
  const pay = defineTool({
    name: "pay",
    schema: z.object({ amount: z.number() }),
    sideEffect: true,
    ...(needsApproval === undefined ? {} : { needsApproval }),
    execute: ({ amount }, ctx) => {
      void ctx.idempotencyKey;
      paid.push(amount);
      return "paid";
    },
  });
  return { pay, paid };
}

type Options = Omit<Parameters<typeof generateText>[0], "model" | "prompt" | "messages" | "tools">;

interface Loop {
  readonly messages: ModelMessage[];
  readonly answers: string;
}

async function drive(
  runtime: Runtime,
  tools: Record<string, Tool>,
  messages: ModelMessage[],
  script: ScriptedTurn[],
  options: Options = {},
  way: "generateText" | "streamText" = "generateText",
): Promise<Loop> {
  const asked = { model: createScriptedModel(script), tools, messages, stopWhen: isStepCount(5), ...options };
  return runtime.run({ runId: "r" }, async () => {
    const said =
      way === "generateText"
        ? (await generateText(asked)).responseMessages
        : await (async () => {
            const result = streamText(asked as Parameters<typeof streamText>[0]);
            await result.consumeStream();
            return result.responseMessages;
          })();
    return { messages: [...messages, ...said], answers: JSON.stringify(said) };
  });
}

const begin: ModelMessage[] = [{ role: "user", content: "Pay." }];
const callPay = (...ids: string[]): ScriptedTurn =>
  ids.map((toolCallId) => ({ toolName: "pay", input: { amount: 100 }, toolCallId }));

function answer({ messages }: Loop, approved: boolean): ModelMessage[] {
  const requests = messages.flatMap((message) =>
    message.role === "assistant" && Array.isArray(message.content)
      ? message.content.filter((part) => part.type === "tool-approval-request")
      : [],
  );
  const content = requests.map(({ approvalId }) => ({
    type: "tool-approval-response" as const,
    approvalId,
    approved,
    reason: "because",
  }));
  return [...messages, { role: "tool", content }];
}

const SDK_APPROVAL = { toolApproval: { pay: "user-approval" } } as unknown as Options;
const WAYS = ["generateText", "streamText"] as const;

describe.each(WAYS)('toolApproval: "user-approval" in %s', (way) => {
  const paused = async (runtime: Runtime, pay: Tool) =>
    drive(runtime, { pay }, begin, [callPay("id-1")], SDK_APPROVAL, way);

  test("pauses with a stored request, and the decision in the store runs the call once", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const { pay, paid } = createPay();
    const loop = await paused(runtime, pay);
    const [request] = await runtime.approvals({ status: "pending" });
    expect(request).toMatchObject({ toolName: "pay", args: { amount: 100 }, kind: "call" });
    expect(await runtime.calls()).toMatchObject([{ status: "pending", toolCallId: "id-1" }]);
    await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
    const messages = answer(loop, true);
    await drive(runtime, { pay: pay }, messages, ["done"], SDK_APPROVAL, way);
    await drive(runtime, { pay: pay }, messages, ["done"], SDK_APPROVAL, way);
    expect(paid).toEqual([100]);
    expect(await runtime.calls()).toMatchObject([{ status: "success", approval: "approved" }]);
  });

  test("an approval in the messages alone runs nothing", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const { pay, paid } = createPay();
    const loop = await paused(runtime, pay);
    const resumed = await drive(runtime, { pay: pay }, answer(loop, true), ["done"], SDK_APPROVAL, way);
    expect(paid).toEqual([]);
    expect(resumed.answers).toContain("approval_pending");
    expect(await runtime.approvals({ status: "pending" })).toHaveLength(1);
  });

  test("a denial in the messages decides the request, and nothing can approve it later", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const { pay, paid } = createPay();
    const loop = await paused(runtime, pay);
    const [request] = await runtime.approvals({ status: "pending" });
    await drive(runtime, { pay: pay }, answer(loop, false), ["not done"], SDK_APPROVAL, way);
    expect(await runtime.approvals()).toMatchObject([
      { status: "denied", decidedBy: "message history", comment: "because" },
    ]);
    await expect(runtime.resolveToolApproval(request?.id ?? "", { approved: true })).rejects.toMatchObject({
      code: "TOOL_APPROVAL_SETTLED",
    });
    await drive(runtime, { pay: pay }, answer(loop, true), ["done"], SDK_APPROVAL, way);
    expect(paid).toEqual([]);
  });
});

describe.each(WAYS)("needsApproval in %s", (way) => {
  test("a denial in the messages denies the stored request", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const { pay, paid } = createPay(true);
    const loop = await drive(runtime, { pay: pay }, begin, [callPay("id-1")], {}, way);
    const [request] = await runtime.approvals({ status: "pending" });
    const denied = await drive(runtime, { pay: pay }, answer(loop, false), ["not done"], {}, way);
    expect(await runtime.approvals()).toMatchObject([{ status: "denied" }]);
    expect(await runtime.calls()).toMatchObject([{ status: "denied", toolCallId: "id-1" }]);
    await expect(runtime.resolveToolApproval(request?.id ?? "", { approved: true })).rejects.toThrow(
      /denied/,
    );
    // The same history again, now with an approval: a denied call stays denied.
    await drive(runtime, { pay: pay }, answer(loop, true), ["done"], {}, way);
    expect(paid).toEqual([]);
    // An earlier denial in the history does not affect a later request.
    const later: ModelMessage[] = [...denied.messages, { role: "user", content: "Then pay now." }];
    await drive(runtime, { pay: pay }, later, [callPay("id-2")], {}, way);
    expect(await runtime.approvals({ status: "pending" })).toHaveLength(1);
  });
});

test("two equal calls of one response have a request each", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  for (const options of [SDK_APPROVAL, {}]) {
    const { pay } = createPay(options === SDK_APPROVAL ? undefined : true);
    await drive(runtime, { pay: pay }, begin, [callPay("id-1", "id-2")], options);
    expect(await runtime.approvals({ status: "pending" })).toHaveLength(2);
  }
});

test("a copy with needsApproval: true has a request as well", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const { pay, paid } = createPay();
  const copy = { ...pay, needsApproval: true } as unknown as Tool;
  const loop = await drive(runtime, { pay: copy }, begin, [callPay("id-1")]);
  const [request] = await runtime.approvals({ status: "pending" });
  expect((await drive(runtime, { pay: copy }, answer(loop, true), ["?"])).answers).toContain(
    "approval_pending",
  );
  expect(paid).toEqual([]);
  await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
  await drive(runtime, { pay: copy }, answer(loop, true), ["done"]);
  expect(paid).toEqual([100]);
});

test("a tool with a mapped name and schema has a request with its original ones", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const pick = defineTool({
    name: "shop.pick",
    schema: z.union([z.string(), z.int()]),
    execute: () => "picked",
  });
  const tools = toAISDKTools([pick]);
  const [name = ""] = Object.keys(tools);
  const call = [{ toolName: name, input: { input: "apple" }, toolCallId: "id-1" }];
  const options = { toolApproval: { [name]: "user-approval" } } as unknown as Options;
  const loop = await drive(runtime, tools, begin, [call], options);
  const [request] = await runtime.approvals({ status: "pending" });
  expect(request).toMatchObject({ toolName: "shop.pick", args: "apple" });
  await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
  expect((await drive(runtime, tools, answer(loop, true), ["done"], options)).answers).toContain("picked");
});

test("calls that the SDK approves or denies by itself do not wait for approval", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const { pay, paid } = createPay();
  for (const [status, id] of [
    ["denied", "id-1"],
    ["approved", "id-2"],
  ] as const) {
    const options = { toolApproval: { pay: status } } as unknown as Options;
    await drive(runtime, { pay: pay }, begin, [callPay(id), "done"], options);
  }
  expect(paid).toEqual([100]);
  expect(await runtime.approvals()).toEqual([]);
});

test("without telemetry the loop pauses without a request, and still nothing runs before a decision", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const { pay, paid } = createPay();
  const silent: Options = { ...SDK_APPROVAL, telemetry: { isEnabled: false } };
  const loop = await drive(runtime, { pay: pay }, begin, [callPay("id-1")], silent);
  expect(await runtime.approvals()).toEqual([]);
  await drive(runtime, { pay: pay }, answer(loop, true), ["?"], silent);
  expect(paid).toEqual([]);
  expect(await runtime.approvals({ status: "pending" })).toHaveLength(1);
});

test("a call with its own integrations that include ours has its request", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const { pay } = createPay();
  const own: Options = { ...SDK_APPROVAL, telemetry: { integrations: [toolwrightTelemetry] } };
  await drive(runtime, { pay: pay }, begin, [callPay("id-1")], own);
  expect(await runtime.approvals({ status: "pending" })).toHaveLength(1);
});
