/** A chat for `useChat` that loses its connection, loses its server, and waits for approval: every part once, one order. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  DefaultChatTransport,
  isToolUIPart,
  readUIMessageStream,
  ToolLoopAgent,
  type UIMessage,
  type UIMessageChunk,
} from "ai";
import { createRuntime, defineTool } from "toolwright";
import { createChatHandler } from "toolwright/ai-sdk";
import { toNodeListener } from "toolwright/server";
import { createScriptedModel } from "toolwright/testing";
import { z } from "zod";

const placed: string[] = [];
const order = defineTool({
  name: "order",
  description: "Order something",
  schema: z.object({ sku: z.string() }),
  sideEffect: true,
  idempotent: false,
  needsApproval: true,
  execute: ({ sku }, ctx) => {
    placed.push(`${sku} ${ctx.idempotencyKey}`);
    return { ordered: sku };
  },
});

/** A server in front of the store. Each start is what a restarted process does. */
async function startServer(store: string) {
  const runtime = createRuntime({ store });
  const model = createScriptedModel([
    { text: "I need your approval.", toolCalls: [{ toolName: "order", input: { sku: "diamond" } }] },
    "The diamond is ordered.",
  ]);
  const agent = new ToolLoopAgent({ model, tools: { order } });
  const chat = createChatHandler({ runtime, agent, authorize: () => ({ name: "ada", canDecide: true }) });
  const server = createServer(toNodeListener(chat)).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/chat`;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await runtime.close();
  };
  return { transport: new DefaultChatTransport({ api }), runtime, close };
}

type Transport = DefaultChatTransport<UIMessage>;

function send(transport: Transport, messages: UIMessage[]): Promise<ReadableStream<UIMessageChunk>> {
  return transport.sendMessages({
    chatId: "monday",
    messages,
    trigger: "submit-message",
    messageId: undefined,
    abortSignal: undefined,
  });
}

/** What `useChat` shows in the end. @param begun the message that it continues */
async function shown(stream: ReadableStream<UIMessageChunk>, begun?: UIMessage): Promise<UIMessage> {
  let last = begun;
  const message = begun === undefined ? {} : { message: begun };
  for await (const state of readUIMessageStream({ stream, ...message })) last = state;
  assert(last !== undefined);
  return last;
}

const textOf = ({ parts }: UIMessage): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");

const folder = mkdtempSync(join(tmpdir(), "chat-"));
try {
  const store = join(folder, "chat.db");
  const question: UIMessage = {
    id: "u1",
    role: "user",
    parts: [{ type: "text", text: "A diamond, please" }],
  };

  const first = await startServer(store);
  // The connection is lost immediately. The turn does not stop: the same message again is the same turn.
  await (await send(first.transport, [question])).cancel();
  const asked = await shown(await send(first.transport, [question]));
  console.log("Shown before the restart:", textOf(asked));
  assert.equal(asked.parts.find(isToolUIPart)?.state, "approval-requested");
  assert.deepEqual(placed, []);
  await first.close();

  const second = await startServer(store);
  const decided = {
    ...asked,
    parts: asked.parts.map((part) =>
      isToolUIPart(part) && part.state === "approval-requested"
        ? { ...part, state: "approval-responded", approval: { ...part.approval, approved: true } }
        : part,
    ),
  } as UIMessage;
  // Two tabs approve at the same time.
  const [one, two] = await Promise.all(
    [0, 1].map(async () =>
      shown(await send(second.transport, [question, decided]), structuredClone(decided)),
    ),
  );
  assert(one !== undefined && two !== undefined);
  console.log("Shown after the approval:", textOf(one));
  assert.equal(textOf(one), "I need your approval. The diamond is ordered.");
  assert.deepEqual(two.parts, one.parts);
  assert.equal(one.id, asked.id);
  assert.equal(placed.length, 1);
  const [approval] = await second.runtime.approvals({ runId: "monday" });
  assert.equal(approval?.decidedBy, "ada");
  console.log("Decided by:", approval?.decidedBy, "- orders placed:", placed.length);
  await second.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
