/** Properties of every request, for random conversations and window sizes. */
import { describe, expect, it } from "vitest";
import type { AgentMessage } from "toolwright";
import { createArchive } from "../../src/agent/context/archive-message.ts";
import { ContextWindow, createNotes } from "../../src/agent/context/context-window.ts";
import type { MessageCounter } from "../../src/agent/context/count-tokens.ts";
import { summaryNote } from "../../src/agent/context/summarize.ts";
import type { ContextState } from "../../src/agent/state.ts";
import { estimateTokens } from "../../src/model/estimate-tokens.ts";

const TRIGGER = 3_000;
const NOTE = TRIGGER * 3 * 0.2;

const counterOf = (sizeOf: MessageCounter["sizeOf"]): MessageCounter => ({
  sizeOf,
  sizesOf: (messages) => messages.map(sizeOf),
});

function randoms(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return (state >> 8) % below;
  };
}

function answerWith(next: (below: number) => number, serial: number): AgentMessage[] {
  const ids = Array.from({ length: 1 + next(4) }, (_, index) => `call-${serial}-${index}`);
  const argumentsOf = (): string =>
    JSON.stringify({ path: "a.txt", text: "z".repeat(next(4) === 0 ? 3_000 : next(40)) });
  return [
    {
      role: "assistant",
      content: next(2) === 0 ? "" : "Let me see.",
      tool_calls: ids.map((id) => ({
        id,
        type: "function",
        function: { name: "look", arguments: argumentsOf() },
      })),
    },
    ...ids.map((id): AgentMessage => ({
      role: "tool",
      tool_call_id: id,
      name: "look",
      content: `${id} ${"x".repeat(next(3) === 0 ? 2_000 : next(200))}`,
      executionId: `key-${id}`,
    })),
  ];
}

interface Played {
  readonly window: ContextWindow;
  readonly said: AgentMessage[];
  readonly began: number;
  steps: number;
}

/** Simulates a run, and checks each of its requests. */
function play(seed: number, rounds: number, look: (played: Played) => void, trigger = TRIGGER): Played {
  const next = randoms(seed);
  const began: AgentMessage[] = [
    { role: "user", content: "The task." },
    ...(next(2) === 0
      ? []
      : [
          ...answerWith(next, 900),
          { role: "assistant" as const, content: "So far." },
          { role: "user" as const, content: "Now this." },
        ]),
  ];
  const window = new ContextWindow(began, {
    context: null,
    archive: createArchive({}),
    noteOf: createNotes(),
    counter: counterOf(estimateTokens),
    overhead: 100,
    trigger,
  });
  const played: Played = { window, said: [...began], began: began.length, steps: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const step = window.nextStep();
    if (step !== undefined) {
      played.steps += 1;
      const summary =
        step.dropped.length === 0
          ? (window.state?.summary ?? "")
          : summaryNote("", window.state?.summary ?? "", step.dropped, NOTE);
      window.apply({ archivedUpTo: step.archivedUpTo, droppedUpTo: step.droppedUpTo, summary });
    }
    look(played);
    for (const message of answerWith(next, round)) {
      played.said.push(message);
      window.onAdded(message, message);
    }
  }
  return played;
}

const SEEDS = Array.from({ length: 60 }, (_, index) => index + 1);

describe("what is sent", () => {
  it("has no result without its call and no call without its result", () => {
    for (const seed of SEEDS) {
      play(seed, 40, ({ window }) => {
        const open = new Set<string>();
        for (const { role, tool_calls: calls = [], tool_call_id: id } of window.messages) {
          if (role !== "tool") expect([...open]).toEqual([]);
          for (const call of calls) open.add(call.id);
          if (id !== undefined) expect(open.delete(id)).toBe(true);
        }
        expect([...open]).toEqual([]);
      });
    }
  });

  it("always has the task, the last message and the open exchange unchanged", () => {
    for (const seed of SEEDS) {
      play(seed, 40, ({ window, said, began }) => {
        const sent = new Set(window.messages);
        const live = said.slice(said.findLastIndex(({ role }) => role === "assistant"));
        for (const message of said.length > began ? live : []) expect(sent.has(message)).toBe(true);
        expect(sent.has(said[0] as AgentMessage)).toBe(true);
        const lastSaid = said.findLast(({ role }) => role === "user") as AgentMessage;
        expect(sent.has(lastSaid)).toBe(true);
      });
    }
  });

  it("has every result, or its handle, or says how to list the handles", () => {
    for (const seed of SEEDS) {
      play(seed, 25, ({ window, said }) => {
        const text = JSON.stringify(window.messages).replaceAll("\\", "");
        const isListed = text.includes('get_tool_response {"executionId":"all"}');
        for (const { executionId } of said) {
          const isThere = executionId === undefined || text.includes(`"executionId":"${executionId}"`);
          expect(isThere || isListed).toBe(true);
        }
      });
    }
  });

  it("fits, unless the protected messages alone do not", () => {
    for (const seed of SEEDS) {
      play(seed, 40, ({ window, said, began }) => {
        const start = said.length > began ? said.findLastIndex(({ role }) => role === "assistant") : 0;
        const live = said.slice(start).reduce((sum, message) => sum + estimateTokens(message), 0);
        // The summary with its handles is bounded, and small compared to the window.
        expect(window.tokens).toBeLessThan(Math.max(TRIGGER, live + TRIGGER));
      });
    }
  });

  it("rarely changes: most requests share a prefix with the previous request", () => {
    const { steps } = play(7, 400, () => undefined, 10 * TRIGGER);
    expect(steps).toBeGreaterThan(3);
    expect(steps).toBeLessThan(60);
  });

  it("is the same when the logged steps are replayed", () => {
    for (const seed of SEEDS) {
      const { window, said } = play(seed, 30, () => undefined);
      const again = new ContextWindow(said.slice(0, 1), {
        context: null,
        archive: createArchive({}),
        noteOf: createNotes(),
        counter: counterOf(estimateTokens),
        overhead: 100,
        trigger: TRIGGER,
      });
      for (const message of said.slice(1)) again.onAdded(message, message);
      if (window.state !== null) again.apply(window.state);
      // The last message before the invoke is pinned only in the run that started with it.
      const sent = new Set(window.messages.map((message) => JSON.stringify(message)));
      for (const message of again.messages) expect(sent.has(JSON.stringify(message))).toBe(true);
    }
  });

  it("a state that does not fit is not used", () => {
    const began: AgentMessage[] = [{ role: "user", content: "Hi." }, ...answerWith(randoms(1), 1)];
    const bad: unknown[] = [
      { archivedUpTo: -1, droppedUpTo: 0, summary: "" },
      { archivedUpTo: 0, droppedUpTo: 2, summary: "" },
      { archivedUpTo: 99, droppedUpTo: 0, summary: "" },
      "x",
      {},
    ];
    for (const context of bad) {
      const window = new ContextWindow(began, {
        context: context as ContextState,
        archive: createArchive({}),
        noteOf: createNotes(),
        counter: counterOf(() => 1),
        overhead: 0,
        trigger: TRIGGER,
      });
      expect(window.messages).toEqual(began);
    }
  });
});
