/**
 * A chat server that the test kills. Arguments: the store, the ledger of orders, and the mode. "hang": its model hangs in the
 * middle of the answer. "die": there it waits for a line, and the process kills itself right after it has stored the answer.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ToolLoopAgent } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { createRuntime, defineTool } from "../../../src/index.ts";
import { createChatHandler } from "../../../src/adapters/ai-sdk/index.ts";
import { toNodeListener } from "../../../src/server/index.ts";
import { LazyStore } from "../../../src/store/lazy-store.ts";
import { openStore } from "../../../src/store/open-store.ts";
import type { Store } from "../../../src/store/store.ts";
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
  if (mode === "die") await once(process.stdin, "data");
  yield { type: "text-delta" as const, id: "t", delta: "lo" };
  yield { type: "text-end" as const, id: "t" };
  yield { type: "finish" as const, finishReason: { unified: "stop" as const, raw: "" }, usage };
}

const model = new MockLanguageModelV4({
  doStream: async ({ prompt }) => ({
    stream: ReadableStream.from(answer(prompt.some(({ role }) => role === "tool"))),
  }),
});

/** SIGKILL after the commit of the transaction that ends a turn. */
function dyingStore(inner: Store): Store {
  const transaction: Store["transaction"] = async (work, level) => {
    let endsTurn = false;
    const result = await inner.transaction(function* () {
      const statements = work();
      let step = statements.next();
      while (step.done !== true) {
        endsTurn ||= step.value.sql.startsWith("UPDATE toolwright_turns SET result_json");
        step = statements.next(yield step.value);
      }
      return step.value;
    }, level);
    if (endsTurn) process.kill(process.pid, "SIGKILL");
    return result;
  };
  return {
    dialect: inner.dialect,
    secret: inner.secret,
    version: () => inner.version?.() ?? Promise.resolve(""),
    transaction,
    read: (work) => inner.read(work),
    close: () => inner.close(),
  };
}

const dialect = store.startsWith("postgres") ? "postgres" : "sqlite";
const dying = new LazyStore(dialect, async () => dyingStore(await openStore(store)));
const handler = createChatHandler({
  runtime: createRuntime({ store: mode === "die" ? dying : store }),
  agent: new ToolLoopAgent({ model, tools: { order } }),
  authorize: () => ({ name: "ann" }),
});
const server = createServer(toNodeListener(handler));
server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/chat`);
});
