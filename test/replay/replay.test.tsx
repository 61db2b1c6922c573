/** @jsxImportSource toolwright */
/** Runs become tests: recorded once, replayed without any effect, and compared with the current code. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tool, ToolLoopAgent } from "ai";
import {
  createRuntime,
  createWorker,
  createWorkflows,
  defineTool,
  type Program,
  type Runtime,
  runWorkflow,
} from "toolwright";
import { recordModel } from "toolwright/ai-sdk";
import {
  createFakeClock,
  createScriptedModel,
  type Fixture,
  recordRun,
  replayRun,
  type ScriptedTurn,
} from "toolwright/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { hostOf } from "../../src/runtime/create-runtime.ts";
import { all, change } from "../../src/store/statement.ts";
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

describe("what a worker passes to a program", () => {
  const count = defineTool({ name: "count", schema: z.object({ n: z.number() }), execute: ({ n }) => n + 1 });
  const pay = defineTool({
    name: "pay",
    schema: z.object({ card: z.string() }),
    redact: { input: ["card"] },
    execute: () => "paid",
  });
  type Input = { readonly n: number; readonly card: string };
  const open = (on: Runtime, runId: string, signal: AbortSignal, work: () => Promise<unknown>) => {
    signal.throwIfAborted();
    return on.run({ runId, signal }, work);
  };
  const counting: Program = ({ runId, input, signal, runtime }) =>
    open(runtime, runId, signal, () => runtime.call(count, { n: (input as Input).n }));
  const failing: Program = ({ runId, input, signal, runtime }) =>
    open(runtime, runId, signal, async () => {
      await runtime.call(count, { n: (input as Input).n });
      throw new Error("no such customer");
    });
  const paying: Program = ({ runId, input, signal, runtime }) =>
    open(runtime, runId, signal, () => runtime.call(pay, { card: (input as Input).card }));

  test("is passed to it in a replay: the input, unless a tool hides something, and a signal", async () => {
    await using runtime = createRuntime({ store: ":memory:", recording: "keep" });
    const worker = createWorker({ runtime, programs: { counting, failing, paying } });
    await worker.start();
    for (const name of ["counting", "failing", "paying"])
      await runtime.enqueue(name, { runId: name, input: { n: 5, card: CARD } });
    await worker.idle();
    await worker.drain();
    for (const [name, agent] of Object.entries({ counting, failing })) {
      const fixture = await recordRun(runtime, name);
      expect(fixture.run.input).toEqual({ n: 5, card: CARD });
      expect((await replayRun(fixture, { agent })).diff).toEqual([]);
    }
    const fixture = await recordRun(runtime, "paying");
    expect(JSON.stringify(fixture)).not.toContain(CARD);
    expect(fixture.run.input).toBeUndefined();
    const { store } = await hostOf(runtime);
    const kept = await store.read(() => all("SELECT * FROM toolwright_recordings WHERE run_id = 'paying'"));
    expect(JSON.stringify(kept)).not.toContain(CARD);
  });

  const copies = async (on: Runtime): Promise<string> => {
    const { store } = await hostOf(on);
    return JSON.stringify(await store.read(() => all("SELECT * FROM toolwright_recordings")));
  };

  test("rule 37: the copy of an input is dropped when a later task hides something, even if it fails", async () => {
    await using runtime = createRuntime({ store: ":memory:", recording: "keep" });
    const named = { runId: "named", name: "paying", input: { card: CARD } };
    await runtime.run({ ...named, nodeId: "count" }, () => runtime.call(count, { n: 5 }));
    expect(await copies(runtime)).toContain(CARD);
    const failed = runtime.run({ ...named, nodeId: "pay" }, async () => {
      await runtime.call(pay, { card: CARD });
      throw new Error("no such customer");
    });
    await expect(failed).rejects.toThrow("no such customer");
    expect(await copies(runtime)).not.toContain(CARD);
    expect((await recordRun(runtime, "named")).run.input).toBeUndefined();
  });

  test("rule 37: the copy that a worker made while the run waited is dropped when its own program hides something", async () => {
    await using runtime = createRuntime({ store: ":memory:", recording: "keep" });
    const allow = defineTool({
      name: "allow",
      schema: z.object({}),
      sideEffect: true,
      needsApproval: true,
      execute: (_args, _ctx) => "allowed",
    });
    const work = async (input: unknown): Promise<void> => {
      await allow.execute({});
      await pay.execute({ card: (input as Input).card });
    };
    const waiting: Program = ({ runId, input, signal }) => runtime.run({ runId, signal }, () => work(input));
    const worker = createWorker({ runtime, programs: { waiting } });
    await worker.start();
    await runtime.enqueue("waiting", { runId: "waiting", input: { card: CARD } });
    await worker.idle();
    await worker.drain();
    const [request] = await runtime.approvals({ status: "pending" });
    await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
    await runtime.run({ runId: "waiting" }, () => work({ card: CARD }));
    expect(await copies(runtime)).not.toContain(CARD);
  });

  test("rule 37: the copy is dropped by a bare call too, and by retention if the process died after a call", async () => {
    const folder = mkdtempSync(join(tmpdir(), "toolwright-replay-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const store = join(folder, "runs.db");
    const runtime = createRuntime({ store, recording: "keep" });
    for (const runId of ["bare", "killed"])
      await runtime.run({ runId, name: "paying", input: { card: CARD }, nodeId: "count" }, () =>
        runtime.call(count, { n: 5 }),
      );
    await runtime.call(pay, { card: CARD }, { runId: "bare" });
    expect((await copies(runtime)).split(CARD)).toHaveLength(2);
    const paid = Promise.withResolvers<void>();
    void runtime.run({ runId: "killed", name: "paying", input: { card: CARD }, nodeId: "pay" }, async () => {
      await runtime.call(pay, { card: CARD });
      paid.resolve();
      await new Promise(() => undefined);
    });
    await paid.promise;
    const { store: opened, ownerId } = await hostOf(runtime);
    await opened.transaction(
      () => change("UPDATE toolwright_owners SET ended_at_ms = {now} WHERE id = ?1", ownerId),
      "normal",
    );
    const clock = createFakeClock(Date.now() + 8 * 86_400_000);
    await using later = createRuntime({ store, clock });
    await later.gc();
    expect(await copies(later)).not.toContain(CARD);
  });

  test("with a name and an input of runtime.run too", async () => {
    await using runtime = createRuntime({ store: ":memory:", recording: "keep" });
    const input = { n: 5, card: CARD };
    await runtime.run({ runId: "named", name: "counting", input }, () => runtime.call(count, { n: 5 }));
    const fixture = await recordRun(runtime, "named");
    expect((await replayRun(fixture, { agent: counting })).diff).toEqual([]);
  });
});

test("rule 37: a fixture hides what tools hide also in the input, in outputs of tasks and in texts", async () => {
  await using runtime = createRuntime({ store: ":memory:", recording: "keep", rootDir: tmpdir() });
  const pay = defineTool({
    name: "pay",
    schema: z.object({ card: z.object({ number: z.string() }), pin: z.number() }),
    redact: { input: ["card", "pin"] },
    execute: () => "paid",
  });
  const note = defineTool({
    name: "note",
    schema: z.object({ path: z.string(), content: z.string() }),
    execute: () => "ok",
  });
  const {
    Workflow,
    Task,
    workflow: define,
    outputs,
  } = createWorkflows({
    input: z.object({ card: z.object({ number: z.string() }), pin: z.number(), about: z.string() }),
    found: z.object({ copy: z.string(), text: z.string() }),
  });
  const pays = define((ctx) => (
    <Workflow name="pays">
      <Task id="find" output={outputs.found}>
        {() => ({ copy: ctx.input.card.number, text: `Pay with ${ctx.input.card.number}.` })}
      </Task>
      <Task id="pay">
        {async () => {
          await pay.execute({ card: ctx.input.card, pin: ctx.input.pin });
          await note.execute({ path: "a.txt", content: "public" });
        }}
      </Task>
    </Workflow>
  ));
  const input = { card: { number: CARD }, pin: 98_765, about: "an order" };
  await runWorkflow(pays, { runtime, runId: "pays", input });
  const fixture = await recordRun(runtime, "pays");
  const text = JSON.stringify(fixture);
  expect(text).not.toContain(CARD);
  expect(text).not.toContain("98765");
  expect(text).toContain("an order");
  expect(text).toContain("public");
  expect((await replayRun(fixture, { workflow: pays })).diff).toEqual([]);
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
