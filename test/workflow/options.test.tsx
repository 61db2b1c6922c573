/**
 * The options of a run, seen from inside a tool: in a first turn, in a correction turn, and in a turn after a resume.
 */
import { createSmithers, defineTool, getToolContext, runWorkflow, type RunWorkflowOptions } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createFolder, createStorePath, rowsOf, scriptedAgent } from "./harness.ts";

const OPTIONS = ["rootDir", "allowNetwork", "maxOutputBytes", "timeoutMs"] as const;
type Settings = Readonly<Record<(typeof OPTIONS)[number], unknown>>;

function settingsIn(context: Partial<Settings> | undefined): Settings {
  return Object.fromEntries(OPTIONS.map((name) => [name, context?.[name]])) as unknown as Settings;
}

/** An agent whose tools report their options: itself, a sub-agent and a function, in each turn. */
function createLookout(dbPath: string, stops: readonly AbortController[]) {
  const seen = new Map<string, Settings>();
  const see = defineTool({
    name: "see",
    schema: z.object({ turn: z.string() }),
    execute: ({ turn }, ctx) => {
      seen.set(turn, settingsIn(ctx));
      seen.set(`${turn}, without ctx`, settingsIn(getToolContext()));
      return turn;
    },
  });
  const delegate = defineTool({
    name: "delegate",
    schema: z.object({ turn: z.string() }),
    execute: async ({ turn }) => {
      const { agent } = scriptedAgent(
        [
          ({ prompt }) =>
            prompt.length > 1 ? "seen" : [{ toolName: "see", input: { turn: `${turn}, by a sub-agent` } }],
        ],
        { tools: { see } },
      );
      return (await agent.generate({ prompt: "Look." })).text;
    },
  });
  const look = (turn: string) => ["see", "delegate"].map((toolName) => ({ toolName, input: { turn } }));
  const turns = [
    look("first"),
    "not JSON",
    look("correction"),
    look("resumed"),
    look("given again"),
    look("last"),
  ];
  const { agent } = scriptedAgent(
    [
      ({ prompt }) => {
        const turn = prompt.filter(({ role }) => role === "assistant").length;
        // Each start ends before the first turn of the next one.
        const stop = stops[turn - 3];
        if (stop === undefined || stop.signal.aborted) return turns[turn] ?? '{"ok":true}';
        stop.abort();
        return new Error("stopped");
      },
    ],
    { tools: { see, delegate } },
  );
  const { Workflow, Task, smithers, outputs } = createSmithers(
    { r: z.object({ ok: z.boolean() }) },
    { dbPath },
  );
  const workflow = smithers(() => (
    <Workflow name="w">
      <Task id="t" agent={agent} output={outputs.r}>
        Look.
      </Task>
      <Task id="computed">
        {async () => {
          await see.execute({ turn: "computed" });
          await delegate.execute({ turn: "computed" });
        }}
      </Task>
    </Workflow>
  ));
  return { workflow, seen };
}

it("every option reaches the tools in every turn; the options passed last apply to the next resume", async () => {
  const stops = [new AbortController(), new AbortController(), new AbortController()] as const;
  const { workflow, seen } = createLookout(createStorePath(), stops);
  const given = { rootDir: createFolder(), allowNetwork: true, maxOutputBytes: 12_345, toolTimeoutMs: 4_321 };
  const again = { rootDir: createFolder(), allowNetwork: false, maxOutputBytes: 6_789 };
  const runs: RunWorkflowOptions[] = [
    { ...given, signal: stops[0].signal },
    { resume: true, signal: stops[1].signal },
    { ...again, resume: true, signal: stops[2].signal },
    { resume: true },
  ];
  const ends: string[] = [];
  for (const options of runs) ends.push((await runWorkflow(workflow, { ...options, runId: "r" })).status);
  expect(ends).toEqual(["cancelled", "cancelled", "cancelled", "finished"]);

  const { toolTimeoutMs: timeoutMs, ...first } = { ...given };
  const ways = ["", ", without ctx", ", by a sub-agent", ", by a sub-agent, without ctx"];
  const expected = (turns: readonly string[], settings: Settings) =>
    turns.flatMap((turn) => ways.map((way): [string, Settings] => [turn + way, settings]));
  expect(Object.fromEntries(seen)).toEqual(
    Object.fromEntries([
      ...expected(["first", "correction", "resumed"], { ...first, timeoutMs }),
      ...expected(["given again", "last", "computed"], { ...again, timeoutMs }),
    ]),
  );
});

it("the options of a resume are stored when it starts", async () => {
  const dbPath = createStorePath();
  const { Workflow, Task, smithers } = createSmithers({}, { dbPath });
  const stop = new AbortController();
  const workflow = smithers(() => (
    <Workflow name="w">
      <Task id="t">
        {() => {
          stop.abort();
          return 1;
        }}
      </Task>
      <Task id="next">{2}</Task>
    </Workflow>
  ));
  await runWorkflow(workflow, { runId: "r", signal: stop.signal, maxConcurrency: 3, maxOutputBytes: 5_000 });
  await runWorkflow(workflow, {
    runId: "r",
    resume: true,
    signal: AbortSignal.abort(),
    maxOutputBytes: 7_000,
  });
  const [row] = await rowsOf(dbPath, "SELECT options_json FROM toolwright_workflow_runs");
  expect(JSON.parse(String(row?.["options_json"]))).toEqual({
    rootDir: process.cwd(),
    maxConcurrency: 3,
    maxOutputBytes: 7_000,
  });
});

it("the signal of the run reaches a running tool, and ends it", async () => {
  const stop = new AbortController();
  let reason: unknown;
  const wait = defineTool({
    name: "wait",
    schema: z.object({}),
    execute: (_args, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          reason = signal.reason;
          reject(new Error("ended"));
        });
        setTimeout(() => stop.abort(new Error("enough")), 10);
      }),
  });
  const { Workflow, Task, smithers } = createSmithers({}, { dbPath: createStorePath() });
  const workflow = smithers(() => (
    <Workflow name="w">
      <Task id="t">{async () => wait.execute({})}</Task>
    </Workflow>
  ));
  expect((await runWorkflow(workflow, { signal: stop.signal })).status).toBe("cancelled");
  expect(reason).toBeDefined();
});

it("a run whose signal was aborted before it started runs nothing, and can be resumed", async () => {
  let ran = 0;
  const { Workflow, Task, smithers } = createSmithers({}, { dbPath: createStorePath() });
  const workflow = smithers(() => (
    <Workflow name="w">
      <Task id="t">{() => (ran += 1)}</Task>
    </Workflow>
  ));
  const first = await runWorkflow(workflow, { runId: "r", signal: AbortSignal.abort() });
  expect([first.status, ran]).toEqual(["cancelled", 0]);
  expect((await runWorkflow(workflow, { runId: "r", resume: true })).status).toBe("finished");
});

it("limits apply to all tasks of a run together", async () => {
  const look = defineTool({ name: "look", schema: z.object({ n: z.number() }), execute: ({ n }) => n });
  const { Workflow, Task, Parallel, smithers, outputs } = createSmithers(
    { n: z.number() },
    { dbPath: createStorePath() },
  );
  const workflow = smithers(() => (
    <Workflow name="w">
      <Parallel>
        {[1, 2, 3, 4].map((n) => (
          <Task id={`t${n}`} retries={0} continueOnFail output={outputs.n}>
            {async () => look.execute({ n })}
          </Task>
        ))}
      </Parallel>
    </Workflow>
  ));
  const result = await runWorkflow(workflow, { limits: { maxToolCalls: 3 } });
  expect(result.outputs["n"]).toHaveLength(3);
});

it.each([
  ["rootDir", { rootDir: 7 as unknown as string }],
  ["maxOutputBytes", { maxOutputBytes: -1 }],
  ["toolTimeoutMs", { toolTimeoutMs: Number.NaN }],
  ["limits", { limits: { maxToolCalls: -1 } }],
  ["runId", { runId: "" }],
  ["runId", { runId: "r".repeat(513) }],
  ["runId", { runId: "half \ud800" }],
] as const)("a wrong %s is refused before anything runs", async (name, options) => {
  let ran = 0;
  const { Workflow, Task, smithers } = createSmithers({}, { dbPath: createStorePath() });
  const workflow = smithers(() => (
    <Workflow name="w">
      <Task id="t">{() => (ran += 1)}</Task>
    </Workflow>
  ));
  const failure: unknown = await runWorkflow(workflow, options).then(
    (result) => result.status,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(Error);
  expect((failure as Error).message).toMatch(name === "toolTimeoutMs" ? /timeout/i : new RegExp(name));
  expect(ran).toBe(0);
});

it("a listener that throws does no harm", async () => {
  const { Workflow, Task, smithers } = createSmithers({}, { dbPath: createStorePath() });
  const workflow = smithers(() => (
    <Workflow name="w">
      <Task id="t">{1}</Task>
    </Workflow>
  ));
  const result = await runWorkflow(workflow, {
    onProgress: () => {
      throw new Error("watching is hard");
    },
  });
  expect(result.status).toBe("finished");
});
