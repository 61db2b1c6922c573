/** `createChatHandler` with the AI SDK's client: reloads, cuts, stops, approvals, and answers that are the same for all. */
import { ToolLoopAgent, type UIMessage } from "ai";
import { createRuntime, defineTool, type Runtime, type StreamPart } from "toolwright";
import { createChatHandler, toUIMessageStream } from "toolwright/ai-sdk";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { changeRows, createStorePath, endAllOwners, rowsOf } from "../workflow/harness.ts";
import { createClient, listen, messageOf, textOf, userMessage } from "./chat-server.ts";
import { createLiveModel } from "./live-model.ts";
import { say, startChat } from "./start-chat.ts";

test("a message is answered while it is made, and the same message again gets the same answer", async () => {
  const { live, client, runtime, placed } = await startChat();
  await using _ = runtime;
  const answer = messageOf(await client.send([userMessage("Order apples")]));
  const first = await live.next();
  first.say("I order.");
  first.send({ type: "text-end", id: "t" });
  first.call("order", { sku: "apple" });
  first.finish("tool-calls");
  const second = await live.next();
  say(second, "Do", "ne.");
  const message = await answer;
  expect(textOf(message)).toBe("I order.Done.");
  expect(message.parts.map(({ type }) => type)).toEqual([
    "step-start",
    "text",
    "tool-order",
    "step-start",
    "text",
  ]);
  expect(message.parts[2]).toMatchObject({
    state: "output-available",
    output: { ordered: "apple", key: true },
  });
  expect(placed).toEqual(["apple"]);
  const again = await messageOf(await client.send([userMessage("Order apples")]));
  expect(again.id).toBe(message.id);
  expect(textOf(again)).toBe("I order.Done.");
  expect(live.requests).toBe(2);
  expect(await client.reconnect()).toBeNull();
});

test("a reload receives the whole answer again, and a client that leaves does not stop it", async () => {
  const { live, client, runtime } = await startChat();
  await using _ = runtime;
  const leaving = new AbortController();
  const lost = client.send([userMessage("Hi")], { signal: leaving.signal });
  const request = await live.next();
  request.say("Hel");
  await lost;
  leaving.abort();
  const reloaded = messageOf(await client.reconnect());
  const other = messageOf(await client.send([userMessage("Hi")]));
  request.send({ type: "text-delta", id: "t", delta: "lo" }, { type: "text-end", id: "t" });
  request.finish();
  const [one, two] = await Promise.all([reloaded, other]);
  expect([textOf(one), textOf(two)]).toEqual(["Hello", "Hello"]);
  expect(one.id).toBe(two.id);
  expect(live.requests).toBe(1);
});

test("another process serves the stream, and stops the turn", async () => {
  const { live, client, runtime, store, agent, authorize } = await startChat();
  await using _ = runtime;
  await using other = createRuntime({ store });
  const there = createClient(await listen(createChatHandler({ runtime: other, agent, authorize })), "c", {
    "x-user": "ann",
  });
  const here = messageOf(await client.send([userMessage("Hi")]));
  const request = await live.next();
  request.say("Hel");
  const reading = messageOf(await there.reconnect());
  request.send({ type: "text-delta", id: "t", delta: "lo" });
  expect((await there.stop()).status).toBe(204);
  expect(textOf(await here)).toBe("Hello");
  expect(textOf(await reading)).toBe("Hello");
  expect(await there.reconnect()).toBeNull();
  // The chat continues with the next message.
  const next = messageOf(await client.send([userMessage("Hi"), userMessage("Bye", "u2")]));
  say(await live.next(), "Bye");
  expect(textOf(await next)).toBe("Bye");
});

test("regenerate is a new turn with a new id; the same request again is the same turn", async () => {
  const { live, client, runtime } = await startChat();
  await using _ = runtime;
  const ask = async (regenerate?: string) => {
    const more = regenerate === undefined ? {} : { regenerate };
    return messageOf(await client.send([userMessage("Hi")], more));
  };
  const answer = ask();
  say(await live.next(), "one");
  const one = await answer;
  const regenerated = ask(one.id);
  say(await live.next(), "two");
  const two = await regenerated;
  expect([textOf(one), textOf(two)]).toEqual(["one", "two"]);
  expect(two.id).not.toBe(one.id);
  expect(textOf(await ask(one.id))).toBe("two");
  expect(textOf(await ask())).toBe("one");
  expect(live.requests).toBe(2);
});

test("useChat may name the user's message: each request to regenerate is a new turn", async () => {
  const { live, client, runtime } = await startChat();
  await using _ = runtime;
  const texts: string[] = [];
  for (const text of ["one", "two", "three"]) {
    const more = text === "one" ? {} : { regenerate: "u1" };
    const answer = messageOf(await client.send([userMessage("Hi")], more));
    say(await live.next(), text);
    texts.push(textOf(await answer));
  }
  expect(texts).toEqual(["one", "two", "three"]);
});

test("a client is connected while the model has said nothing yet, or says nothing more", async () => {
  const { live, client, runtime } = await startChat();
  await using _ = runtime;
  const answer = messageOf(await client.send([userMessage("Hi")]));
  const request = await live.next();
  const early = await client.get();
  const twice = messageOf(await client.send([userMessage("Hi")]));
  request.say("Hel");
  const watched = await client.get();
  const seen = (await watched.body?.getReader().read())?.value;
  expect(new TextDecoder().decode(seen)).toContain("open");
  await vi.waitFor(async () => expect((await client.get("?from=3")).status).toBe(200));
  request.send({ type: "text-delta", id: "t", delta: "lo" }, { type: "text-end", id: "t" });
  request.finish();
  expect([textOf(await answer), textOf(await twice)]).toEqual(["Hello", "Hello"]);
  expect(await early.text()).toMatch(/"delta":"Hel"[^]*"delta":"lo"[^]*\[DONE\]/);
});

/** Asks for a diamond, up to the request for approval. */
async function untilApproval({ live, client }: Awaited<ReturnType<typeof startChat>>): Promise<UIMessage> {
  const answer = messageOf(await client.send([userMessage("Order a diamond")]));
  const request = await live.next();
  request.say("Shall I?");
  request.send({ type: "text-end", id: "t" });
  request.call("order", { sku: "diamond" });
  request.finish("tool-calls");
  return answer;
}

function decide(message: UIMessage, approved: boolean, change: object = {}): UIMessage {
  const parts = message.parts.map((part) => {
    if (!("state" in part) || part.state !== "approval-requested") return part;
    const approval = { ...part.approval, approved };
    return { ...part, state: "approval-responded", approval, ...change };
  });
  return { ...message, parts: parts as UIMessage["parts"] };
}

test("rule 22: an approval is settled in the store, once, by a caller that may decide", async () => {
  const chat = await startChat();
  await using _ = chat.runtime;
  const { live, client, placed, runtime } = chat;
  const shown = await untilApproval(chat);
  expect(shown.parts.at(-1)).toMatchObject({ state: "approval-requested", input: { sku: "diamond" } });
  const user = userMessage("Order a diamond");
  const approved = decide(shown, true);
  const refusedBy = (name: string, message: UIMessage) =>
    expect(chat.as(name).send([user, message])).rejects.toThrow();
  await refusedBy("ann", approved);
  await refusedBy("boss", decide(shown, true, { input: { sku: "pebble" } }));
  // A decision in an older message approves nothing: a new message replaces the turn.
  expect(await runtime.approvals({ status: "pending" })).toHaveLength(1);
  expect(placed).toEqual([]);
  const both = [client.send([user, approved]), client.send([user, approved])];
  const request = await live.next();
  say(request, "Ordered.");
  const [one, two] = await Promise.all(both.map(async (stream) => messageOf(await stream, approved)));
  expect(textOf(one as UIMessage)).toBe("Shall I?Ordered.");
  expect(textOf(two as UIMessage)).toBe("Shall I?Ordered.");
  expect(one?.id).toBe(shown.id);
  expect(one?.parts.find(({ type }) => type === "tool-order")).toMatchObject({ state: "output-available" });
  expect(placed).toEqual(["diamond"]);
  expect(await runtime.approvals()).toMatchObject([{ status: "approved", decidedBy: "boss" }]);
  // After the end, a decision changes nothing, and the client receives the missing parts, once.
  const late = await messageOf(await client.send([user, decide(shown, false)]), decide(shown, false));
  expect(textOf(late)).toBe("Shall I?Ordered.");
  expect(placed).toEqual(["diamond"]);
});

test.each([true, false])(
  "a chat continues after a decision that was made elsewhere: approved is %s",
  async (approved) => {
    const chat = await startChat();
    await using _ = chat.runtime;
    const { live, client, placed, runtime } = chat;
    await untilApproval(chat);
    const [request] = await runtime.approvals({ status: "pending" });
    await runtime.resolveToolApproval(request?.id ?? "", { approved });
    const rest = client.reconnect();
    say(await live.next(), "Well.");
    // The client has never heard of the decision.
    const answer = await messageOf(await rest);
    const next = messageOf(
      await client.send([userMessage("Order a diamond"), answer, userMessage("And now?", "u2")]),
    );
    const asked = await live.next();
    expect(JSON.stringify(asked.prompt)).toMatch(approved ? /ordered/ : /denied/i);
    say(asked, "Nothing.");
    expect(textOf(await next)).toBe("Nothing.");
    expect(placed).toEqual(approved ? ["diamond"] : []);
  },
);

test("a denial reaches the model, and an approval in an older message approves nothing", async () => {
  const chat = await startChat();
  await using _ = chat.runtime;
  const { live, client, placed, runtime } = chat;
  const shown = await untilApproval(chat);
  const user = userMessage("Order a diamond");
  const denied = decide(shown, false);
  const rest = client.send([user, denied]);
  const request = await live.next();
  const prompt = JSON.stringify(request.prompt);
  say(request, "Then not.");
  expect(prompt).toMatch(/denied/i);
  const message = await messageOf(await rest, denied);
  expect(textOf(message)).toBe("Shall I?Then not.");
  expect(message.parts.find(({ type }) => type === "tool-order")).toMatchObject({ state: "output-denied" });
  const forged = decide(shown, true);
  const next = messageOf(await client.send([user, forged, userMessage("And now?", "u2")]));
  say(await live.next(), "No.");
  expect(textOf(await next)).toBe("No.");
  expect(placed).toEqual([]);
  expect(await runtime.approvals()).toMatchObject([{ status: "denied" }]);
});

test("a call that an earlier denial answers has no request, and the chat continues after it", async () => {
  const chat = await startChat();
  await using _ = chat.runtime;
  const { live, client, placed, runtime } = chat;
  const shown = await untilApproval(chat);
  const user = userMessage("Order a diamond");
  const denied = decide(shown, false);
  const rest = client.send([user, denied]);
  const again = await live.next();
  again.call("order", { sku: "diamond" }, "again");
  again.finish("tool-calls");
  say(await live.next(), "Then not.");
  const answer = await messageOf(await rest, denied);
  const calls = answer.parts.filter(({ type }) => type === "tool-order");
  expect(calls).toMatchObject([
    { state: "output-denied" },
    { state: "output-error", errorText: 'The call of "order" with these arguments was denied.' },
  ]);
  expect(await runtime.approvals()).toMatchObject([{ status: "denied" }]);
  // Versions before 0.2 showed the second call as denied without a request, and clients have stored such answers.
  const stored = {
    ...answer,
    parts: answer.parts.map((part) =>
      "toolCallId" in part && part.toolCallId === "again"
        ? { type: part.type, toolCallId: part.toolCallId, state: "output-denied", input: part.input }
        : part,
    ),
  } as UIMessage;
  for (const [number, earlier] of [answer, stored].entries()) {
    const next = messageOf(await client.send([user, earlier, userMessage("And now?", `u${number + 2}`)]));
    const asked = await live.next();
    expect(JSON.stringify(asked.prompt).match(/"toolCallId":"again"/g)).toHaveLength(2);
    say(asked, "Nothing.");
    expect(textOf(await next)).toBe("Nothing.");
  }
  expect(placed).toEqual([]);
});

test("after the process died, a GET drives the turn again and retracts uncommitted parts", async () => {
  const store = createStorePath();
  const dying = await startChat(store);
  const lost = await dying.client.send([userMessage("Hi")]);
  const reader = lost.getReader();
  (await dying.live.next()).say("Hel");
  for (let chunk = await reader.read(); chunk.value?.type !== "text-delta"; chunk = await reader.read());
  await endAllOwners(store);
  const chat = await startChat(store);
  await using _ = chat.runtime;
  const answer = messageOf(await chat.client.reconnect());
  say(await chat.live.next(), "Hello again");
  expect(textOf(await answer)).toBe("Hello again");
  expect(textOf(await messageOf(await chat.client.send([userMessage("Hi")])))).toBe("Hello again");
});

test("after the process died, a new message replaces the turn, and its stream ends", async () => {
  const store = createStorePath();
  const dying = await startChat(store);
  const lost = await dying.client.send([userMessage("Hi")]);
  (await dying.live.next()).say("Hel");
  await lost.cancel();
  await endAllOwners(store);
  const { client, live, runtime } = await startChat(store);
  await using _ = runtime;
  const next = messageOf(await client.send([userMessage("Hi"), userMessage("Still there?", "u2")]));
  say(await live.next(), "Yes");
  expect(textOf(await next)).toBe("Yes");
  expect((await runtime.runs()).runs).toMatchObject([{ runId: "c", status: "finished" }]);
});

test("a client that continues in the middle of a response applies the retractions of a crash", async () => {
  const store = createStorePath();
  const dying = await startChat(store);
  const shown = (await dying.client.send([userMessage("Hi")])).getReader();
  (await dying.live.next()).say("Hel", "lo");
  for (let deltas = 0; deltas < 2;) if ((await shown.read()).value?.type === "text-delta") deltas += 1;
  const chat = await startChat(store);
  await using _ = chat.runtime;
  // The client has the start of the response and "Hel".
  const [, , hel] = await runtimeParts(chat.runtime, 4);
  const continued = await chat.client.get(`?from=${(hel?.index ?? 0) + 1}`);
  const body = readText(continued);
  await body.until('"delta":"lo"');
  await endAllOwners(store);
  const driven = chat.client.reconnect();
  say(await chat.live.next(), "Bye");
  await driven;
  const text = await body.done;
  expect(text.indexOf("reset-step")).toBeGreaterThan(text.indexOf('"delta":"lo"'));
  expect(text.indexOf('"delta":"Bye"')).toBeGreaterThan(text.indexOf("reset-step"));
});

/** The first parts of the chat. */
async function runtimeParts(runtime: Runtime, count: number): Promise<StreamPart[]> {
  const parts: StreamPart[] = [];
  for await (const part of runtime.stream("c")) if (parts.push(part) === count) break;
  return parts;
}

function readText({ body }: Response) {
  let text = "";
  let changed = Promise.withResolvers<void>();
  const done = (async () => {
    for await (const bytes of body ?? []) {
      text += Buffer.from(bytes).toString("utf8");
      changed.resolve();
      changed = Promise.withResolvers();
    }
    return text;
  })();
  const until = async (part: string): Promise<void> => {
    while (!text.includes(part)) await Promise.race([changed.promise, done]);
  };
  return { done, until };
}

test("an answer has only the parts of its own turn, not the parts of a turn that it replaces", async () => {
  const chat = await startChat();
  await using _ = chat.runtime;
  const shown = await untilApproval(chat);
  const messages = [userMessage("Order a diamond"), shown, userMessage("No, a rose", "u2")];
  const next = messageOf(await chat.client.send(messages));
  const request = await chat.live.next();
  request.say("A ");
  const reloaded = messageOf(await chat.client.reconnect());
  request.send({ type: "text-delta", id: "t", delta: "rose" }, { type: "text-end", id: "t" });
  request.finish();
  for (const message of [await next, await reloaded]) {
    expect(message.parts.map(({ type }) => type)).toEqual(["step-start", "text"]);
    expect(textOf(message)).toBe("A rose");
  }
});

test("an answer of a recorded chat has only the parts of its own turn", async () => {
  const live = createLiveModel();
  await using runtime = createRuntime({ store: createStorePath(), recording: "keep" });
  const agent = new ToolLoopAgent({ model: live.model });
  const authorize = () => ({ name: "ann" });
  const client = createClient(await listen(createChatHandler({ runtime, agent, authorize })));
  const first = messageOf(await client.send([userMessage("Hi")]));
  say(await live.next(), "One");
  expect(textOf(await first)).toBe("One");
  const second = messageOf(await client.send([userMessage("Hi"), await first, userMessage("Again", "u2")]));
  say(await live.next(), "Two");
  expect(textOf(await second)).toBe("Two");
});

test("a turn that resumes with other instructions has one answer for every reader", async () => {
  const store = createStorePath();
  const startWith = async (instructions: string) => {
    const live = createLiveModel();
    const runtime = createRuntime({ store, recording: "keep" });
    const order = defineTool({
      name: "order",
      schema: z.object({ sku: z.string() }),
      execute: () => "ordered",
    });
    const agent = new ToolLoopAgent({ model: live.model, tools: { order }, instructions });
    const api = await listen(createChatHandler({ runtime, agent, authorize: () => ({ name: "ann" }) }));
    return { live, runtime, client: createClient(api) };
  };
  const dying = await startWith("Be brief.");
  const lost = await dying.client.send([userMessage("Hi")]);
  const first = await dying.live.next();
  first.say("I order.");
  first.send({ type: "text-end", id: "t" });
  first.call("order", { sku: "apple" }, "a");
  first.finish("tool-calls");
  await dying.live.next();
  await lost.cancel();
  await endAllOwners(store);
  const { client, live, runtime } = await startWith("Be polite.");
  await using _ = runtime;
  const answer = messageOf(await client.reconnect());
  const next = await live.next();
  next.call("order", { sku: "pear" }, "b");
  next.finish("tool-calls");
  const last = await live.next();
  const late = messageOf(await client.reconnect());
  say(last, "Done.");
  const { parts } = await answer;
  const shown = parts.map((part) => (part.type === "text" ? part.text : part.type));
  expect(shown).toEqual([
    "step-start",
    "I order.",
    "tool-order",
    "step-start",
    "tool-order",
    "step-start",
    "Done.",
  ]);
  expect((await late).parts).toEqual(parts);
  expect((await messageOf(await client.send([userMessage("Hi")]))).parts).toEqual(parts);
  // The recording has the responses that the turn used.
  const recorded = await messageOf(toUIMessageStream(runtime, "c"));
  expect(recorded.parts).toEqual(parts.slice(3));
});

test("a turn that retention has given up is over: a GET is 204, and the same message says why", async () => {
  const store = createStorePath();
  const dying = await startChat(store);
  const lost = await dying.client.send([userMessage("Hi")]);
  await dying.live.next();
  await lost.cancel();
  await endAllOwners(store);
  await changeRows(store, "UPDATE toolwright_turns SET started_at_ms = 1");
  await changeRows(store, "UPDATE toolwright_runs SET created_at_ms = 1, updated_at_ms = 1");
  const { client, live, runtime } = await startChat(store);
  await using _ = runtime;
  expect(await runtime.gc()).toMatchObject({ clearedRuns: 1 });
  expect(await client.reconnect()).toBeNull();
  expect((await client.stop()).status).toBe(204);
  await expect(client.send([userMessage("Hi")])).rejects.toThrow(
    /"TOOL_RUN_DELETED".*"hint":"Send a new message/,
  );
  const next = messageOf(await client.send([userMessage("Hi"), userMessage("Still there?", "u2")]));
  say(await live.next(), "Yes");
  expect(textOf(await next)).toBe("Yes");
});

test("values that a tool redacts are not in the stored answer", async () => {
  const store = createStorePath();
  const live = createLiveModel();
  const login = defineTool({
    name: "login",
    schema: z.object({ password: z.string() }),
    redact: { input: ["password"] },
    idempotent: true,
    sideEffect: true,
    execute: () => "ok",
  });
  await using runtime = createRuntime({ store });
  const agent = new ToolLoopAgent({ model: live.model, tools: { login } });
  const api = await listen(createChatHandler({ runtime, agent, authorize: () => ({ name: "ann" }) }));
  const answer = messageOf(await createClient(api).send([userMessage("Log in")]));
  const request = await live.next();
  request.call("login", { password: "hunter2-secret" });
  request.finish("tool-calls");
  say(await live.next(), "Done");
  expect(textOf(await answer)).toBe("Done");
  const rows = [
    ...(await rowsOf(store, "SELECT * FROM toolwright_turns")),
    ...(await rowsOf(store, "SELECT * FROM toolwright_responses")),
    ...(await rowsOf(store, "SELECT * FROM toolwright_stream_parts")),
  ];
  expect(JSON.stringify(rows)).not.toContain("hunter2-secret");
});

test.each([
  ["short", 10],
  ["long", 10_000],
])(
  "values that a tool redacts are not in a turn with %s messages that can no longer resume",
  async (_, length) => {
    const store = createStorePath();
    const live = createLiveModel();
    const login = defineTool({
      name: "login",
      schema: z.object({ password: z.string() }),
      redact: { input: ["password"] },
      idempotent: true,
      sideEffect: true,
      execute: () => "ok",
    });
    await using runtime = createRuntime({ store });
    const agent = new ToolLoopAgent({ model: live.model, tools: { login } });
    const api = await listen(createChatHandler({ runtime, agent, authorize: () => ({ name: "ann" }) }));
    const client = createClient(api);
    const signIn = (request: Awaited<ReturnType<typeof live.next>>): void => {
      request.call("login", { password: "hunter2-secret" });
      request.finish("tool-calls");
    };
    const fail = async (messages: UIMessage[]): Promise<void> => {
      const answer = messageOf(await client.send(messages));
      const failed = expect(answer).rejects.toThrow();
      signIn(await live.next());
      (await live.next()).breakOff(new Error("no answer"));
      await failed;
    };
    const isStored = async (): Promise<boolean> => {
      const tables = ["turns", "turn_inputs", "responses", "stream_parts"];
      const rows = await Promise.all(
        tables.map((table) => rowsOf(store, `SELECT * FROM toolwright_${table}`)),
      );
      return JSON.stringify(rows).includes("hunter2-secret");
    };

    const question = userMessage(`Log in ${"x".repeat(length)}`);
    const first = messageOf(await client.send([question]));
    signIn(await live.next());
    say(await live.next(), "Done");
    const shown = [question, await first];
    await fail([...shown, userMessage("Again", "u2")]);
    expect(await isStored()).toBe(true);

    const next = messageOf(await client.send([...shown, userMessage("Still there?", "u3")]));
    say(await live.next(), "Yes");
    await next;
    expect(await isStored()).toBe(false);

    await fail([...shown, userMessage("Once more", "u4")]);
    expect(await isStored()).toBe(true);
    await changeRows(store, "UPDATE toolwright_turns SET started_at_ms = 1, ended_at_ms = SIGN(ended_at_ms)");
    await changeRows(store, "UPDATE toolwright_calls SET started_at_ms = 1, finished_at_ms = 1");
    await changeRows(store, "UPDATE toolwright_runs SET created_at_ms = 1, updated_at_ms = 1");
    expect(await runtime.gc({ olderThanMs: 1e15 })).toMatchObject({ clearedRuns: 1 });
    expect(await isStored()).toBe(false);
  },
);
