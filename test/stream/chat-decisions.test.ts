/** Decisions in a chat: whatever made the loop pause, and however the tool is offered, an approved call runs once. */
import { tool, type UIMessage } from "ai";
import { defineTool } from "toolwright";
import { toAISDKTools } from "toolwright/ai-sdk";
import { expect, test } from "vitest";
import { z } from "zod";
import { messageOf, textOf, userMessage } from "./chat-server.ts";
import { say, startChat } from "./start-chat.ts";

type Settings = Parameters<typeof startChat>[1];

const user = userMessage("Order it");

function decided(message: UIMessage, approved = true): UIMessage {
  const parts = message.parts.map((part) =>
    "state" in part && part.state === "approval-requested"
      ? { ...part, state: "approval-responded", approval: { ...part.approval, approved } }
      : part,
  );
  return { ...message, parts: parts as UIMessage["parts"] };
}

function stateIn(message: UIMessage): unknown {
  const part = message.parts.find(({ type }) => type.startsWith("tool-"));
  return part !== undefined && "state" in part ? part.state : undefined;
}

/** The model makes one call, and the answer waits. */
async function callAndWait(settings: Settings, toolName: string, input: object) {
  const chat = await startChat(undefined, settings);
  const answer = messageOf(await chat.client.send([user]));
  const request = await chat.live.next();
  request.call(toolName, input);
  request.finish("tool-calls");
  const shown = await answer;
  return { ...chat, shown };
}

const picks: unknown[] = [];
const pick = defineTool({
  name: "shop.pick",
  schema: z.union([z.string(), z.int()]),
  needsApproval: true,
  execute: (what) => {
    picks.push(what);
    return "picked";
  },
});
const [pickName = ""] = Object.keys(toAISDKTools([pick]));

const pays: unknown[] = [];
const pay = defineTool({
  name: "pay",
  schema: z.object({ card: z.string(), amount: z.number().default(3) }),
  redact: { input: ["card"] },
  needsApproval: true,
  execute: (args) => {
    pays.push(args);
    return "paid";
  },
});

const WAYS: Record<string, readonly [Settings, string, object]> = {
  "toolApproval of the agent": [
    () => ({ toolApproval: { order: "user-approval" } }),
    "order",
    { sku: "apple" },
  ],
  "a copy of a tool with needsApproval": [
    ({ order }) => ({ tools: { order: { ...order, needsApproval: true } } }),
    "order",
    { sku: "apple" },
  ],
  "a copy under another name, with a condition": [
    ({ order }) => ({ tools: { buy: { ...order, needsApproval: () => true } } }),
    "buy",
    { sku: "apple" },
  ],
  "a schema that is wrapped for the model": [
    () => ({ tools: toAISDKTools([pick]) }),
    pickName,
    { input: "apple" },
  ],
  "redacted arguments": [() => ({ tools: { pay } }), "pay", { card: "4242" }],
};

test.each(Object.entries(WAYS))("%s: an approved call runs once", async (_name, way) => {
  const { runtime, live, client, placed, shown } = await callAndWait(...way);
  await using _ = runtime;
  picks.length = 0;
  pays.length = 0;
  expect(stateIn(shown)).toBe("approval-requested");
  expect(live.requests).toBe(1);
  const answer = decided(shown);
  const rest = client.send([user, answer]);
  say(await live.next(), "Done.");
  const message = await messageOf(await rest, answer);
  expect(textOf(message)).toBe("Done.");
  expect(stateIn(message)).toBe("output-available");
  expect([...placed, ...picks, ...pays]).toHaveLength(1);
  expect(await runtime.approvals()).toMatchObject([{ status: "approved", decidedBy: "boss" }]);
  expect(await runtime.calls()).toMatchObject([{ status: "success" }]);
});

test("a denial is obeyed, and the model reads it, if the agent's settings ask for the approval", async () => {
  const settings: Settings = () => ({ toolApproval: { order: "user-approval" } });
  const { runtime, live, client, placed, shown } = await callAndWait(settings, "order", { sku: "apple" });
  await using _ = runtime;
  const answer = decided(shown, false);
  const rest = client.send([user, answer]);
  const request = await live.next();
  expect(JSON.stringify(request.prompt)).toMatch(/denied/i);
  say(request, "Then not.");
  expect(textOf(await messageOf(await rest, answer))).toBe("Then not.");
  expect(placed).toEqual([]);
});

test("a tool of another library that needs approval fails the turn: its request could not be stored", async () => {
  const wiped: string[] = [];
  const wipe = tool({
    inputSchema: z.object({ disk: z.string() }),
    needsApproval: true,
    execute: ({ disk }) => {
      wiped.push(disk);
      return "wiped";
    },
  });
  const chat = await startChat(undefined, () => ({ tools: { wipe } }));
  await using _ = chat.runtime;
  const answer = messageOf(await chat.client.send([user]));
  const request = await chat.live.next();
  request.call("wipe", { disk: "c" });
  request.finish("tool-calls");
  await expect(answer).rejects.toThrow("The answer failed");
  const { error } = await chat.runtime.describeRun("c");
  expect(error).toMatchObject({ code: "TOOL_APPROVAL_REQUIRED" });
  expect(error?.hint).toContain("fromTool(wipe");
  expect(wiped).toEqual([]);
});

test("a call inside a tool that waits is not an error, the model is not asked, and the chat says where to decide it", async () => {
  const settings: Settings = ({ order }) => ({
    tools: {
      shop: defineTool({
        name: "shop",
        schema: z.object({ what: z.string() }),
        execute: ({ what }) => order.execute({ sku: what }),
      }),
    },
  });
  const { runtime, live, client, api, placed, shown } = await callAndWait(settings, "shop", {
    what: "diamond",
  });
  await using _ = runtime;
  expect(stateIn(shown)).toBe("approval-requested");
  expect(live.requests).toBe(1);
  const [request] = await runtime.approvals({ status: "pending" });
  const body = { id: "c", trigger: "submit-message", messages: [user, decided(shown)] };
  const refused = await fetch(api, {
    method: "POST",
    headers: { "content-type": "application/json", "x-user": "boss" },
    body: JSON.stringify(body),
  });
  expect(refused.status).toBe(409);
  expect(await refused.text()).toContain(`toolwright approve ${request?.id}`);
  expect(placed).toEqual([]);
  await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
  const rest = client.reconnect();
  say(await live.next(), "Done.");
  const message = await messageOf(await rest);
  expect([textOf(message), stateIn(message)]).toEqual(["Done.", "output-available"]);
  expect(placed).toEqual(["diamond"]);
});

test("a decision that comes after the turn was stopped gets a result, so that the client sends it once", async () => {
  const { runtime, live, client, placed, shown } = await callAndWait(() => ({}), "order", { sku: "diamond" });
  await using _ = runtime;
  expect((await client.stop()).status).toBe(204);
  const answer = decided(shown);
  const message = await messageOf(await client.send([user, answer]), answer);
  expect(stateIn(message)).toBe("output-error");
  expect(live.requests).toBe(1);
  expect(placed).toEqual([]);
  // The next message shows the model how it ended.
  const next = messageOf(await client.send([user, message, userMessage("And now?", "u2")]));
  const request = await live.next();
  expect(JSON.stringify(request.prompt)).toContain("was stopped before the decision");
  say(request, "Nothing.");
  expect(textOf(await next)).toBe("Nothing.");
});
