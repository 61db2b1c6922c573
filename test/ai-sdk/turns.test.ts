/** Several turns of a chat with one run id: a repeated user message repeats its calls, a retry of a turn does not. */
import { generateText, isStepCount, type ModelMessage, streamText, ToolLoopAgent } from "ai";
import { describe, expect, it } from "vitest";
import { createRuntime, defineTool, type Runtime } from "toolwright";
import { recordModel } from "toolwright/ai-sdk";
import { createScriptedModel } from "toolwright/testing";
import { z } from "zod";
import { createStorePath, rowsOf } from "../workflow/harness.ts";

function createShop(needsApproval = false) {
  const placed: string[] = [];
  const order = defineTool({
    name: "order",
    schema: z.object({ sku: z.string() }),
    sideEffect: true,
    needsApproval,
    execute: ({ sku }, ctx) => {
      void ctx.idempotencyKey;
      placed.push(sku);
      return { order: placed.length };
    },
  });
  return { placed, tools: { order } };
}

type Shop = ReturnType<typeof createShop>;

const user = (content: string): ModelMessage => ({ role: "user", content });

/** Orders once for each user message, then answers with text. */
const createModel = () =>
  createScriptedModel(
    [
      ({ toolResults }) =>
        toolResults.length === 0 ? [{ toolName: "order", input: { sku: "apple" } }] : "Ordered.",
    ],
    { atEnd: "repeat-last" },
  );

const LOOPS: Readonly<Record<string, (shop: Shop, messages: ModelMessage[]) => Promise<ModelMessage[]>>> = {
  ToolLoopAgent: async ({ tools }, messages) =>
    (await new ToolLoopAgent({ model: createModel(), tools }).generate({ messages })).responseMessages,
  generateText: async ({ tools }, messages) => {
    const model = recordModel(createModel());
    return (await generateText({ model, tools, messages, stopWhen: isStepCount(5) })).responseMessages;
  },
  streamText: async ({ tools }, messages) => {
    const stream = streamText({ model: createModel(), tools, messages, stopWhen: isStepCount(5) });
    await stream.consumeStream();
    return await stream.responseMessages;
  },
};

describe.each(Object.keys(LOOPS))("%s", (name) => {
  const loop = LOOPS[name] as (typeof LOOPS)[string];
  const chat = (runtime: Runtime, shop: Shop, messages: ModelMessage[]) =>
    runtime.run({ runId: "chat" }, () => loop(shop, messages));

  it("rule 3: orders again when the user repeats the message, and not when a turn is retried", async () => {
    const shop = createShop();
    const store = createStorePath();
    const runtime = createRuntime({ store });
    const first = [user("Order an apple.")];
    const second = [...first, ...(await chat(runtime, shop, first)), user("Order an apple.")];
    await chat(runtime, shop, second);
    expect(shop.placed).toHaveLength(2);
    const third = [...second, ...(await chat(runtime, shop, second)), user("Order an apple.")];
    await chat(runtime, shop, third);
    expect(shop.placed).toHaveLength(3);
    await runtime[Symbol.asyncDispose]();
    // After a restart, each turn keeps its number; another wording does not make another turn.
    await using later = createRuntime({ store });
    for (const messages of [first, second, third, [user("Order an apple, it is 10:41.")]]) {
      await chat(later, shop, messages);
    }
    expect(shop.placed).toHaveLength(3);
    const paths = await rowsOf(store, "SELECT path FROM toolwright_scopes ORDER BY path");
    expect(paths).toEqual([{ path: "0" }, { path: "0#2" }, { path: "0#3" }]);
  });

  it("orders again if the history contains texts only", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const shop = createShop();
    const said: ModelMessage = { role: "assistant", content: "Ordered." };
    await chat(runtime, shop, [user("Order an apple.")]);
    await chat(runtime, shop, [user("Order an apple."), said, user("Order an apple.")]);
    expect(shop.placed).toHaveLength(2);
  });

  it("requests approval in each turn, and each approval is used in its own turn", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const shop = createShop(true);
    let messages = [user("Order an apple.")];
    for (let turn = 1; turn <= 2; turn += 1) {
      const paused = await chat(runtime, shop, messages);
      const requests = await runtime.approvals({ status: "pending" });
      expect(requests).toHaveLength(1);
      await runtime.resolveToolApproval(requests[0]?.id ?? "", { approved: true });
      const parts = paused.flatMap(({ content }) => content as { type?: string; approvalId?: string }[]);
      const answers = parts.flatMap(({ type, approvalId = "" }) =>
        type === "tool-approval-request"
          ? [{ type: "tool-approval-response" as const, approvalId, approved: true }]
          : [],
      );
      messages = [...messages, ...paused, { role: "tool", content: answers }];
      messages = [...messages, ...(await chat(runtime, shop, messages)), user("Order an apple.")];
      expect(shop.placed).toHaveLength(turn);
    }
  });
});

describe("the option turn", () => {
  const run = (runtime: Runtime, shop: Shop, turn: number | undefined) =>
    runtime.run({ runId: "chat", turn }, () => shop.tools.order.execute({ sku: "apple" }));

  it("distinguishes turns if a loop does not pass its messages, or passes the last ones only", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const shop = createShop();
    for (const turn of [undefined, 1, 2, 2, 3]) await run(runtime, shop, turn);
    expect(shop.placed).toHaveLength(3);
    const trimmed = [user("Order an apple.")];
    await runtime.run({ runId: "chat", turn: 4 }, () => LOOPS["generateText"]?.(shop, trimmed));
    expect(shop.placed).toHaveLength(4);
    // The option takes precedence over the messages.
    await runtime.run({ runId: "chat", turn: 4 }, () =>
      LOOPS["generateText"]?.(shop, [...trimmed, ...trimmed]),
    );
    expect(shop.placed).toHaveLength(4);
  });

  it.each([0, -1, 1.5, Number.NaN, "2", null])("is refused by name if it is %s", async (turn) => {
    await using runtime = createRuntime({ store: ":memory:" });
    await expect(run(runtime, createShop(), turn as never)).rejects.toMatchObject({
      code: "TOOL_OPTION_INVALID",
      message: expect.stringContaining("turn"),
    });
  });
});
