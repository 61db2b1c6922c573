/** Run with: npm test */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  DefaultChatTransport,
  isToolUIPart,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
} from "ai";
import { createRuntime } from "toolwright";
import { createChat } from "./chat.ts";
import { createChatModel } from "./chat-model.ts";

/** The message that the page shows in the end. */
async function shown(stream: ReadableStream<UIMessageChunk>, begun?: UIMessage): Promise<UIMessage> {
  let last = begun;
  for await (const message of readUIMessageStream({
    stream,
    ...(begun === undefined ? {} : { message: structuredClone(begun) }),
  }))
    last = message;
  assert(last !== undefined);
  return last;
}

test("a large order waits for approval, and is placed once", async (t) => {
  const rootDir = await mkdtemp(join(tmpdir(), "chat-"));
  t.after(() => rm(rootDir, { recursive: true }));
  const runtime = createRuntime({ store: ":memory:", rootDir });
  t.after(() => runtime.close());
  const chat = createChat(runtime, createChatModel(0));
  const transport = new DefaultChatTransport({
    api: "http://127.0.0.1/api/chat",
    fetch: (input, init) => chat(new Request(input, init)),
  });
  const send = (messages: UIMessage[]) =>
    transport.sendMessages({
      chatId: "test",
      messages,
      trigger: "submit-message",
      messageId: undefined,
      abortSignal: undefined,
    });
  const orders = async () => (await readFile(join(rootDir, "orders.txt"), "utf8")).trim().split("\n");

  const question: UIMessage = { id: "u1", role: "user", parts: [{ type: "text", text: "Order 50 pears" }] };
  const asked = await shown(await send([question]));
  await assert.rejects(orders(), { code: "ENOENT" });

  const decided = {
    ...asked,
    parts: asked.parts.map((part) =>
      isToolUIPart(part) && part.state === "approval-requested"
        ? { ...part, state: "approval-responded", approval: { ...part.approval, approved: true } }
        : part,
    ),
  } as UIMessage;
  const answered = await shown(await send([question, decided]), decided);
  assert.match(JSON.stringify(answered.parts), /50 of pear/);
  // The same decision again, for example after a lost connection.
  const again = await shown(await send([question, decided]), decided);
  assert.deepEqual(again.parts, answered.parts);
  assert.equal((await orders()).length, 1);
});
