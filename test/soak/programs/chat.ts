/** An AI SDK chat server. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ToolLoopAgent } from "ai";
import { createChatHandler } from "../../../src/adapters/ai-sdk/index.ts";
import { toNodeListener } from "../../../src/server/index.ts";
import { createScriptedModel } from "../../../src/testing/model/scripted-model.ts";
import { answerTo } from "./model.ts";
import { createTools, endFor, openRuntime, readInput, reportReady } from "./soak-process.ts";

const input = readInput();
const runtime = openRuntime(input);
const tools = Object.fromEntries(
  Object.values(createTools(input.shopUrl)).map((tool) => [tool.name, tool] as const),
);
/** The responses since the last message of the user: a chat has several turns. */
const turnOf = (prompt: readonly { readonly role: string }[]): number =>
  prompt.slice(prompt.findLastIndex(({ role }) => role === "user")).filter(({ role }) => role === "assistant")
    .length;
const model = createScriptedModel([({ text, prompt }) => answerTo(text, turnOf(prompt))], {
  atEnd: "repeat-last",
});
const handler = createChatHandler({
  runtime,
  agent: new ToolLoopAgent({ model, tools }),
  authorize: () => ({ name: "ann", canDecide: true }),
});
try {
  await runtime.ready();
} catch (error) {
  endFor(error);
}
const server = createServer(toNodeListener(handler));
process.once("SIGTERM", () => {
  server.close();
  server.closeAllConnections();
  void runtime.close().then(() => process.exit(0), endFor);
});
server.listen(0, "127.0.0.1", () =>
  reportReady(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/chat`),
);
