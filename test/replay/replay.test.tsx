/** Runs become tests: recorded once, replayed without any effect, and compared with the current code. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tool, ToolLoopAgent } from "ai";
import { createRuntime, defineTool, type Runtime } from "toolwright";
import { recordModel } from "toolwright/ai-sdk";
import {
  createScriptedModel,
  type Fixture,
  recordRun,
  replayRun,
  type ScriptedTurn,
} from "toolwright/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { toFixtureText } from "../../src/operate/fixtures/write-fixture.ts";
import { CARD, type Case, CASES, createTools, type Effects } from "./cases.tsx";

interface Recorded {
  readonly text: string;
  readonly fixture: Fixture;
}

async function record(one: Case): Promise<Recorded> {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-replay-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const effects: Effects = { charges: [] };
  await using runtime = createRuntime({ store: join(folder, "runs.db"), recording: "keep" });
  await one.record(runtime, effects);
  expect(effects.charges.length).toBeGreaterThan(0);
  const { runs } = await runtime.runs();
  const fixture = await recordRun(runtime, runs.at(-1)?.runId ?? "");
  return { fixture, text: toFixtureText(fixture) };
}

const recordings = new Map<string, Recorded>();
async function recorded(one: Case): Promise<Recorded> {
  const found = recordings.get(one.name) ?? (await record(one));
  recordings.set(one.name, found);
  return found;
}

describe.each(CASES)("a run of kind $name", (one) => {
  test("is replayed without any effect, and is the same", async () => {
    const { text } = await recorded(one);
    const effects: Effects = { charges: [] };
    const result = await replayRun(text, one.replay(effects));
    expect(result.diff).toEqual([]);
    expect(result).toMatchObject({
      same: true,
      status: one.name === "failed-workflow" ? "failed" : "finished",
    });
    expect(effects.charges).toEqual([]);
  });

  test("keeps no hidden value in its fixture", async () => {
    const { text } = await recorded(one);
    expect(text).not.toContain(CARD);
    expect(text).not.toContain(Buffer.from(CARD).toString("base64").slice(0, 12));
    expect(text).toContain("[redacted sha256:");
  });

  test.skipIf(one.name === "tool")("names a changed description and a changed schema", async () => {
    const { fixture } = await recorded(one);
    const described = await replayRun(fixture, one.replay({ charges: [] }, { description: "A price." }));
    expect(described.same).toBe(false);
    expect(described.diff).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          path: expect.stringContaining("description"),
          expected: "The price of an item.",
          actual: "A price.",
        }),
      ]),
    );
    const typed = await replayRun(fixture, one.replay({ charges: [] }, { unit: "kg" }));
    expect(typed.diff.map(({ path }) => path).join()).toMatch(/properties\.unit/);
  });
});

const [workflow, agent, sdkAgent, loop, program] = CASES as readonly [Case, Case, Case, Case, Case];

test.each([
  [workflow, "messages.1.content.0.text"],
  [agent, "system"],
  [sdkAgent, "messages.0.content"],
  [loop, "system"],
])("a changed prompt of $name is reported once, with its path", async (one, path) => {
  const { fixture } = await recorded(one);
  const { diff } = await replayRun(fixture, one.replay({ charges: [] }, { prompt: "Buy fruit." }));
  expect(diff).toHaveLength(1);
  expect(diff[0]).toMatchObject({ kind: "request", path, actual: expect.stringContaining("Buy fruit.") });
});

test.each([workflow, program])(
  "a changed argument of $name is named, with the recorded call",
  async (one) => {
    const { fixture } = await recorded(one);
    const { diff } = await replayRun(fixture, one.replay({ charges: [] }, { amount: 7 }));
    expect(diff[0]).toMatchObject({
      kind: "call",
      call: "charge",
      path: "input.amount",
      actual: 7,
      nearest: { tool: "charge", attempt: 1 },
    });
  },
);

test.each([workflow, program])("a call more in $name is refused and named", async (one) => {
  const { fixture } = await recorded(one);
  const effects: Effects = { charges: [] };
  const { diff, error } = await replayRun(fixture, one.replay(effects, { isTwice: true }));
  expect(diff[0]).toMatchObject({ kind: "call", call: "charge", path: "", expected: undefined });
  expect(error?.message).toContain("no further call");
  expect(effects.charges).toEqual([]);
});

test("a call less is named", async () => {
  const { fixture } = await recorded(program);
  const { diff } = await replayRun(fixture, {
    agent: ({ runtime, runId }: { runtime: Runtime; runId: string }) =>
      runtime.run({ runId }, () => "nothing"),
  });
  expect(diff.filter(({ kind }) => kind === "call").map(({ call, actual }) => [call, actual])).toEqual([
    ["price", undefined],
    ["charge", undefined],
    ["price", undefined],
    ["price", undefined],
  ]);
});

test("a changed result is named", async () => {
  const changed = { total: "another" };
  const ofWorkflow = await replayRun(
    (await recorded(workflow)).fixture,
    workflow.replay({ charges: [] }, changed),
  );
  expect(ofWorkflow.diff).toEqual([
    expect.objectContaining({ kind: "result", nodeId: "total", path: "output.line", actual: "another" }),
  ]);
  const ofProgram = await replayRun(
    (await recorded(program)).fixture,
    program.replay({ charges: [] }, changed),
  );
  expect(ofProgram.diff).toEqual([
    expect.objectContaining({ kind: "result", nodeId: "summary", path: "result.total", actual: "another" }),
  ]);
});

interface Given {
  readonly runtime: Runtime;
  readonly runId: string;
}

describe("a program that returns the outcomes of its calls", () => {
  const look = defineTool({ name: "look", schema: z.object({ at: z.string() }), execute: ({ at }) => at });
  const cached = defineTool({
    name: "cached",
    schema: z.object({ at: z.string() }),
    cache: true,
    execute: ({ at }) => at,
  });
  const broken = defineTool({
    name: "broken",
    schema: z.object({}),
    execute: () => {
      throw new Error("the service is down");
    },
  });
  const guarded = defineTool({
    name: "guarded",
    schema: z.object({}),
    needsApproval: true,
    execute: () => "done",
  });
  const outcomes = async ({ runtime }: Given) => {
    const first = await runtime.call(look, { at: "the sky" });
    return {
      first,
      // Code may do something only once, with or without a crash.
      others: first.status === "success" && first.replayed ? [] : [await runtime.call(cached, { at: "a" })],
      more: [await runtime.call(cached, { at: "a" }), await runtime.call(broken, {})],
    };
  };

  test("is the same", async () => {
    await using runtime = createRuntime({ store: ":memory:", recording: "keep" });
    const program = (given: Given) => given.runtime.run({ runId: given.runId }, () => outcomes(given));
    await program({ runtime, runId: "p" });
    expect((await replayRun(await recordRun(runtime, "p"), { agent: program })).diff).toEqual([]);
  });

  test("is the same if it was resumed: the log does not say which of them came from it", async () => {
    await using runtime = createRuntime({ store: ":memory:", recording: "keep" });
    const program = (given: Given, isCut = false) =>
      given.runtime.run({ runId: given.runId }, async () => {
        const first = await given.runtime.call(look, { at: "the sky" });
        if (isCut) throw new Error("cut");
        return [first, await given.runtime.call(broken, {})];
      });
    await expect(program({ runtime, runId: "p" }, true)).rejects.toThrow("cut");
    const [first] = await program({ runtime, runId: "p" });
    expect(first).toMatchObject({ replayed: true });
    const fixture = await recordRun(runtime, "p");
    expect((await replayRun(fixture, { agent: (given: Given) => program(given) })).diff).toEqual([]);
  });

  test("is the same if a call was denied", async () => {
    await using runtime = createRuntime({ store: ":memory:", recording: "keep" });
    const program = ({ runtime: on, runId }: Given) => on.run({ runId }, () => on.call(guarded, {}));
    await program({ runtime, runId: "p" });
    const [request] = await runtime.approvals({ status: "pending" });
    await runtime.resolveToolApproval(request?.id ?? "", { approved: false, comment: "not today" });
    expect(await program({ runtime, runId: "p" })).toMatchObject({ status: "denied" });
    expect((await replayRun(await recordRun(runtime, "p"), { agent: program })).diff).toEqual([]);
  });
});

test("code that uses another runtime in a replay is refused", async () => {
  const { fixture } = await recorded(program);
  const folder = mkdtempSync(join(tmpdir(), "toolwright-replay-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = join(folder, "other.db");
  await using other = createRuntime({ store });
  const effects: Effects = { charges: [] };
  const { diff } = await replayRun(fixture, {
    agent: ({ runtime, runId }: { runtime: Runtime; runId: string }) =>
      runtime.run({ runId }, () => other.call(createTools(effects).charge, { amount: 1, card: CARD })),
  });
  expect(diff[0]).toMatchObject({ kind: "run", path: "status", expected: "finished", actual: "failed" });
  expect([effects.charges, existsSync(store)]).toEqual([[], false]);
});

test("a tool of another library does not run: its result comes from the recorded request", async () => {
  let runs = 0;
  const agentOf = (script: readonly ScriptedTurn[]): ToolLoopAgent => {
    const look = tool({
      description: "Looks.",
      inputSchema: z.object({ at: z.string() }),
      execute: async ({ at }) => {
        runs += 1;
        return { seen: at };
      },
    });
    return new ToolLoopAgent({ model: recordModel(createScriptedModel(script)), tools: { look } }) as never;
  };
  await using runtime = createRuntime({ store: ":memory:", recording: "keep" });
  await runtime.run({ runId: "foreign" }, async () => {
    await agentOf([[{ toolName: "look", input: { at: "the sky" } }], "Blue."]).generate({ prompt: "Look." });
  });
  const fixture = await recordRun(runtime, "foreign");
  expect(JSON.stringify(fixture)).toContain("the sky");
  const { diff } = await replayRun(fixture, { agent: agentOf([new Error("asked")]) });
  expect(diff).toEqual([]);
  expect(runs).toBe(1);
});
