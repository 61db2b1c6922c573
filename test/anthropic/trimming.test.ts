/** Histories that are too long: the oldest messages are dropped, and the API accepts the rest. */
import type { MessageParam } from "@anthropic-ai/sdk/resources/messages";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool, runAgentLoop, type AgentLoopEvent } from "toolwright";
import { estimateTokens } from "../../src/model/estimate-tokens.ts";
import { createTrimmer } from "../../src/adapters/anthropic/trim-history.ts";
import { problemWith } from "../../src/testing/anthropic/check-request.ts";
import { call, eventsOf, openRuntime, serve, user } from "./harness.ts";
import { Random } from "../random.ts";

/** A valid history: questions, answers, parallel calls, results with text after them, paused turns. */
function randomHistory(random: Random): MessageParam[] {
  const text = (): string => "x".repeat(1 + random.below(400));
  const history: MessageParam[] = [user(text())];
  if (random.below(4) === 0) history.push(user(text()));
  let id = 0;
  for (let rounds = random.below(30); rounds > 0; rounds -= 1) {
    const calls = Array.from({ length: random.below(4) }, () => `id-${(id += 1)}`);
    if (random.below(8) === 0) history.push({ role: "assistant", content: [{ type: "text", text: text() }] });
    history.push({
      role: "assistant",
      content: [
        { type: "text", text: text() },
        ...calls.map((one) => ({ type: "tool_use" as const, id: one, name: "t", input: { text: text() } })),
      ],
    });
    const results = calls.map((one) => ({
      type: "tool_result" as const,
      tool_use_id: one,
      content: "y".repeat(random.below(random.below(5) === 0 ? 6_000 : 300)),
    }));
    if (results.length === 0) history.push(user(text()));
    else if (random.below(2) === 0) history.push({ role: "user", content: results });
    else history.push({ role: "user", content: [...results, { type: "text", text: text() }] });
    if (random.below(6) === 0) history.push(user(text()));
  }
  return history;
}

const asRequest = (messages: readonly MessageParam[]) => ({ model: "m", max_tokens: 1, messages });

test("for any history and limit, every result keeps its call, every call its result, and the first message stays", () => {
  for (let seed = 1; seed <= 1_000; seed += 1) {
    const random = new Random(seed);
    const history = randomHistory(random);
    const label = `seed ${seed}`;
    expect(problemWith(asRequest(history)), label).toBeUndefined();
    const room = 50 + random.below(4_000);
    const trimmer = createTrimmer(() => undefined);
    // At each point where a loop would send a request.
    for (let length = 1; length <= history.length; length += 1) {
      if (history[length - 1]?.role === "assistant") continue;
      const sent = trimmer.fit(history.slice(0, length), room);
      expect(problemWith(asRequest(sent)), `${label}, ${length} messages in ${room}`).toBeUndefined();
      expect(sent[0], label).toBe(history[0]);
      expect(sent.at(-1)?.role, label).toBe("user");
    }
    const again = createTrimmer(() => undefined);
    const last = history.findLastIndex(({ role }) => role === "user") + 1;
    for (let length = 1; length < last; length += 1) {
      if (history[length - 1]?.role === "user") again.fit(history.slice(0, length), room);
    }
    expect(again.fit(history.slice(0, last), room), label).toEqual(trimmer.fit(history.slice(0, last), room));
  }
});

test("a history that fits is sent unchanged, and a trimmed one fits if possible", () => {
  for (let seed = 1; seed <= 500; seed += 1) {
    const history = randomHistory(new Random(seed));
    const size = history.reduce((sum, message) => sum + estimateTokens(message), 0);
    expect(createTrimmer(() => undefined).fit(history, size)).toEqual(history);
    const sent = createTrimmer(() => undefined).fit(history, 4_000);
    const left = sent.reduce((sum, message) => sum + estimateTokens(message), 0);
    expect(left, `seed ${seed}`).toBeLessThanOrEqual(4_200);
  }
});

test("if even the last round is too large, its longest results are truncated, with a mark", () => {
  const results = [10, 60_000, 30_000].map((length, index) => ({
    type: "tool_result" as const,
    tool_use_id: `id-${index}`,
    content: "z".repeat(length),
  }));
  const history: MessageParam[] = [
    user("Go."),
    {
      role: "assistant",
      content: results.map(({ tool_use_id: id }) => ({ type: "tool_use", id, name: "t", input: {} })),
    },
    { role: "user", content: results },
  ];
  const sent = createTrimmer(() => undefined).fit(history, 10_000);
  const cut = sent[2]?.content as typeof results;
  expect(cut[0]).toEqual(results[0]);
  expect(cut[1]?.content).toMatch(/z\n\[\d+ of 60000 characters are left out here to fit the context\]$/);
  expect(estimateTokens(sent)).toBeLessThanOrEqual(10_100);
  // The request contains a copy.
  expect(results[1]?.content).toHaveLength(60_000);
});

test("an image counts as an image, not as its bytes", () => {
  const image = {
    type: "image",
    source: { type: "base64", media_type: "image/png", data: "A".repeat(900_000) },
  };
  expect(estimateTokens({ role: "user", content: [image] })).toBeLessThan(2_000);
});

test("a long loop stays within its limit, the API accepts every request, and the result has all messages", async () => {
  const look = defineTool({
    name: "look",
    schema: z.object({ at: z.number() }),
    execute: ({ at }) => `${at}: ${"word ".repeat(200)}`,
  });
  const turns = 40;
  const { server, client } = await serve([
    ...Array.from({ length: turns }, (_, at) => [call("look", { at }), call("look", { at: at + 1_000 })]),
    "Seen it all.",
  ]);
  const events: AgentLoopEvent[] = [];
  const result = await runAgentLoop({
    client,
    model: "claude-test",
    system: "Look at everything.",
    messages: [user("Look.")],
    tools: [look],
    runtime: openRuntime(),
    maxContextTokens: 5_000,
    maxTurns: 100,
    onEvent: (event) => events.push(event),
  });
  expect(result).toMatchObject({ status: "complete", reason: "Seen it all." });
  expect(result.messages).toHaveLength(2 + 2 * turns);
  expect(server.refused).toEqual([]);
  for (const { body } of server.requests) {
    expect(estimateTokens([body["system"], body.tools, body.messages])).toBeLessThan(5_100);
    expect(body.messages[0]).toEqual(user("Look."));
  }
  // Not at every turn: the prefix stays the same for a while, so that it can be cached.
  const trimmed = eventsOf(events, "history-trimmed").length;
  expect(trimmed).toBeGreaterThan(1);
  expect(trimmed).toBeLessThan(turns);
});
