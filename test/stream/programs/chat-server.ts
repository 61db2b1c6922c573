/** A chat server that the test kills. Arguments: the store, and whether its model hangs in the middle of the answer. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ToolLoopAgent } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { createRuntime, defineTool } from "../../../src/index.ts";
import { createChatHandler } from "../../../src/adapters/ai-sdk/index.ts";
import { toNodeListener } from "../../../src/server/index.ts";
import { z } from "zod";
import { appendFileSync } from "node:fs";

const [, , store = "", ledger = "", mode = ""] = process.argv;
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

const order = defineTool({
  name: "order",
  schema: z.object({ sku: z.string() }),
  execute: ({ sku }, ctx) => {
    appendFileSync(ledger, `${sku} ${ctx.idempotencyKey}\n`);
    return { ordered: sku };
  },
});

async function* answer(hasOrdered: boolean) {
  if (!hasOrdered) {
    yield { type: "tool-call" as const, toolCallId: "a", toolName: "order", input: '{"sku":"apple"}' };
    yield { type: "finish" as const, finishReason: { unified: "tool-calls" as const, raw: "" }, usage };
    return;
  }
  yield { type: "text-start" as const, id: "t" };
  yield { type: "text-delta" as const, id: "t", delta: "Hel" };
  if (mode === "hang") await new Promise(() => undefined);
  yield { type: "text-delta" as const, id: "t", delta: "lo" };
  yield { type: "text-end" as const, id: "t" };
  yield { type: "finish" as const, finishReason: { unified: "stop" as const, raw: "" }, usage };
}

const model = new MockLanguageModelV4({
  doStream: async ({ prompt }) => ({
    stream: ReadableStream.from(answer(prompt.some(({ role }) => role === "tool"))),
  }),
});
const handler = createChatHandler({
  runtime: createRuntime({ store }),
  agent: new ToolLoopAgent({ model, tools: { order } }),
  authorize: () => ({ name: "ann" }),
});
const server = createServer(toNodeListener(handler));
server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/chat`);
});
