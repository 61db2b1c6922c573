/** The handler records every model of its agent: the agent's own, and those that it chooses for a call or a step. */
import { streamText, ToolLoopAgent } from "ai";
import { createRuntime } from "toolwright";
import { createChatHandler } from "toolwright/ai-sdk";
import { expect, onTestFinished, test, vi } from "vitest";
import { createStorePath } from "../workflow/harness.ts";
import { createClient, listen, messageOf, textOf, userMessage } from "./chat-server.ts";
import { createLiveModel, USAGE } from "./live-model.ts";
import { say, startChat } from "./start-chat.ts";

test.each(["prepareCall", "prepareStep"] as const)("the model that %s chooses", async (where) => {
  const chosen = createLiveModel();
  const chat = await startChat(undefined, () => ({
    [where]: (options: object) => ({ ...(where === "prepareCall" ? options : {}), model: chosen.model }),
  }));
  await using _ = chat.runtime;
  const answer = messageOf(await chat.client.send([userMessage("Hi")]));
  const request = await chosen.next();
  request.call("order", { sku: "apple" });
  request.finish("tool-calls");
  say(await chosen.next(), "Done.");
  expect(textOf(await answer)).toBe("Done.");
  // The stored answer has it too.
  expect(textOf(await messageOf(await chat.client.send([userMessage("Hi")])))).toBe("Done.");
  expect([chosen.requests, chat.live.requests]).toEqual([2, 0]);
});

test("two models of one loop share its recorded responses", async () => {
  const strong = createLiveModel();
  const chat = await startChat(undefined, () => ({
    prepareStep: ({ stepNumber }: { stepNumber: number }) =>
      stepNumber === 0 ? {} : { model: strong.model },
  }));
  await using _ = chat.runtime;
  const asked = messageOf(await chat.client.send([userMessage("Hi")]));
  const request = await chat.live.next();
  request.call("order", { sku: "diamond" });
  request.finish("tool-calls");
  await asked;
  const [pending] = await chat.runtime.approvals({ status: "pending" });
  await chat.runtime.resolveToolApproval(pending?.id ?? "", { approved: true });
  // The turn is driven from its start: the first response is replayed.
  const rest = messageOf(await chat.client.reconnect());
  say(await strong.next(), "Done.");
  expect(textOf(await rest)).toBe("Done.");
  expect([chat.live.requests, strong.requests]).toEqual([1, 1]);
});

test("a model that is given by its name alone comes from the gateway of the SDK, and is recorded", async () => {
  const loopback = globalThis.fetch;
  const asked: string[] = [];
  vi.stubEnv("AI_GATEWAY_API_KEY", "key");
  vi.stubGlobal("fetch", (input: string | URL, init: RequestInit = {}) => {
    if (!String(input).startsWith("https://ai-gateway.")) return loopback(input, init);
    asked.push(new Headers(init.headers).get("ai-language-model-id") ?? "");
    return Promise.resolve(
      new Response(GATEWAY_ANSWER, { headers: { "content-type": "text/event-stream" } }),
    );
  });
  onTestFinished(() => {
    vi.unstubAllEnvs();
    vi.unstubAllGlobals();
  });
  await using runtime = createRuntime({ store: createStorePath() });
  const agent = new ToolLoopAgent({ model: "some/model" });
  const api = await listen(createChatHandler({ runtime, agent, authorize: () => ({ name: "ann" }) }));
  const client = createClient(api);
  expect(textOf(await messageOf(await client.send([userMessage("Hi")])))).toBe("Hello");
  expect(asked).toEqual(["some/model"]);
});

const GATEWAY_ANSWER = [
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: "Hello" },
  { type: "text-end", id: "t" },
  { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: USAGE },
]
  .map((part) => `data: ${JSON.stringify(part)}\n\n`)
  .join("");

test("an agent that hides its model fails, instead of giving an empty answer; one without stream() is refused", async () => {
  const live = createLiveModel();
  await using runtime = createRuntime({ store: createStorePath() });
  const agent = {
    stream: ({ messages }: { messages: [] }) => Promise.resolve(streamText({ model: live.model, messages })),
  };
  const authorize = () => ({ name: "ann" });
  const client = createClient(await listen(createChatHandler({ runtime, agent, authorize })));
  const answer = messageOf(await client.send([userMessage("Hi")]));
  say(await live.next(), "Hello");
  await expect(answer).rejects.toThrow("The answer failed");
  expect((await runtime.describeRun("c")).error?.hint).toContain("recordModel");
  expect(() => createChatHandler({ runtime, agent: {} as never, authorize })).toThrow(
    "agent must be an agent with stream()",
  );
});
