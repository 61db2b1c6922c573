/** Tools without `execute` run in the client. The answer continues with their results, with the AI SDK's own client code. */
import { Chat } from "@ai-sdk/react";
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithToolCalls,
  tool,
  ToolLoopAgent,
  type UIMessage,
} from "ai";
import { createRuntime } from "toolwright";
import { createChatHandler } from "toolwright/ai-sdk";
import { expect, test } from "vitest";
import { z } from "zod";
import { createStorePath } from "../workflow/harness.ts";
import { createClient, listen, messageOf, textOf, userMessage } from "./chat-server.ts";
import { createLiveModel } from "./live-model.ts";
import { say } from "./start-chat.ts";

async function startChat() {
  const live = createLiveModel();
  const runtime = createRuntime({ store: createStorePath() });
  const tools = { locate: tool({ inputSchema: z.object({ what: z.string() }), outputSchema: z.string() }) };
  const agent = new ToolLoopAgent({ model: live.model, tools });
  const api = await listen(createChatHandler({ runtime, agent, authorize: () => ({ name: "ann" }) }));
  return { live, runtime, api, client: createClient(api) };
}

async function callLocate({ live }: Awaited<ReturnType<typeof startChat>>, what: string): Promise<void> {
  const request = await live.next();
  request.say(`Where is ${what}? `);
  request.send({ type: "text-end", id: "t" });
  request.call("locate", { what });
  request.finish("tool-calls");
}

test("useChat sends the results of its own tools, twice in one answer", async () => {
  const chat = await startChat();
  await using _ = chat.runtime;
  const located: unknown[] = [];
  const page: Chat<UIMessage> = new Chat({
    id: "c",
    transport: new DefaultChatTransport({ api: chat.api }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    onToolCall: ({ toolCall: { toolCallId, input } }) => {
      located.push(input);
      void page.addToolOutput({ tool: "locate", toolCallId, output: "here" });
    },
  });
  const ended = Promise.withResolvers<void>();
  page["~registerMessagesCallback"](() => {
    if (page.lastMessage !== undefined && textOf(page.lastMessage).endsWith("Found.")) ended.resolve();
  });
  void page.sendMessage({ text: "Look for both" });
  await callLocate(chat, "the cat");
  await callLocate(chat, "the dog");
  const last = await chat.live.next();
  expect(JSON.stringify(last.prompt).match(/"value":"here"/g)).toHaveLength(2);
  say(last, "Found.");
  await ended.promise;
  expect(page.messages).toHaveLength(2);
  const answer = page.messages[1] as UIMessage;
  expect(textOf(answer)).toBe("Where is the cat? Where is the dog? Found.");
  expect(answer.parts.map(({ type }) => type).join(" ")).toBe(
    "step-start text tool-locate step-start text tool-locate step-start text",
  );
  expect(located).toEqual([{ what: "the cat" }, { what: "the dog" }]);
  expect(chat.live.requests).toBe(3);
});

test("a reload receives the whole answer, and the same results again are the same turn", async () => {
  const chat = await startChat();
  await using _ = chat.runtime;
  const { client, live } = chat;
  const question = messageOf(await client.send([userMessage("Look")]));
  await callLocate(chat, "the cat");
  const shown = await question;
  const withResult = {
    ...shown,
    parts: shown.parts.map((part) =>
      "toolCallId" in part ? { ...part, state: "output-available", output: "here" } : part,
    ),
  } as UIMessage;
  const continued = messageOf(await client.send([userMessage("Look"), withResult]), withResult);
  const request = await live.next();
  request.say("Fou");
  const reloaded = messageOf(await client.reconnect());
  const again = messageOf(await client.send([userMessage("Look"), withResult]), withResult);
  request.send({ type: "text-delta", id: "t", delta: "nd." }, { type: "text-end", id: "t" });
  request.finish();
  const whole = await continued;
  expect(textOf(whole)).toBe("Where is the cat? Found.");
  expect(whole.id).toBe(shown.id);
  expect(await again).toEqual(whole);
  expect(await reloaded).toMatchObject({ id: shown.id, parts: whole.parts.map(({ type }) => ({ type })) });
  expect(textOf(await reloaded)).toBe("Where is the cat? Found.");
  const later = await messageOf(await client.send([userMessage("Look"), withResult]), withResult);
  expect(later).toEqual(whole);
  expect(live.requests).toBe(2);
});
