/** The options of a run, seen from inside a tool: in a first turn, in a correction turn, and in a turn after a resume. */
import { createSmithers, defineTool, runWorkflow } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createFolder, createStorePath, scriptedAgent } from "./harness.ts";

interface Seen {
  readonly turn: string;
  readonly rootDir: string;
  readonly allowNetwork: boolean;
  readonly maxOutputBytes: number;
  readonly timeoutMs: number;
}

it("every option reaches the tools in every turn, and in every turn after a resume", async () => {
  const dbPath = createStorePath();
  const rootDir = createFolder();
  const seen: Seen[] = [];
  const stop = new AbortController();
  const make = () => {
    const see = defineTool({
      name: "see",
      schema: z.object({ turn: z.string() }),
      execute: ({ turn }, { rootDir, allowNetwork, maxOutputBytes, timeoutMs }) => {
        seen.push({ turn, rootDir, allowNetwork, maxOutputBytes, timeoutMs });
        return turn;
      },
    });
    const { agent } = scriptedAgent(
      [
        ({ prompt }) => {
          const turn = prompt.filter(({ role }) => role === "assistant").length;
          if (turn === 0) return [{ toolName: "see", input: { turn: "first" } }];
          if (turn === 1) return "not JSON";
          if (turn === 2) return [{ toolName: "see", input: { turn: "correction" } }];
          if (turn === 3 && !stop.signal.aborted) {
            stop.abort();
            return new Error("stopped");
          }
          return turn === 3 ? [{ toolName: "see", input: { turn: "resumed" } }] : '{"ok":true}';
        },
      ],
      { tools: { see } },
    );
    const { Workflow, Task, smithers, outputs } = createSmithers(
      { r: z.object({ ok: z.boolean() }) },
      { dbPath },
    );
    return smithers(() => (
      <Workflow name="w">
        <Task id="t" agent={agent} output={outputs.r}>
          Look.
        </Task>
        <Task id="computed">{async () => see.execute({ turn: "computed" })}</Task>
      </Workflow>
    ));
  };
  const options = { rootDir, allowNetwork: true, maxOutputBytes: 12_345, toolTimeoutMs: 4_321 };
  await runWorkflow(make(), { ...options, runId: "r", signal: stop.signal });
  expect((await runWorkflow(make(), { runId: "r", resume: true })).status).toBe("finished");
  expect(seen.map(({ turn }) => turn)).toEqual(["first", "correction", "resumed", "computed"]);
  for (const { turn, ...settings } of seen) {
    expect(settings, turn).toMatchObject({
      rootDir,
      allowNetwork: true,
      maxOutputBytes: 12_345,
      timeoutMs: 4_321,
    });
  }
});

it("the signal of the run reaches a tool that is at work, and ends it", async () => {
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

it("a run whose signal was aborted before it began begins nothing, and resumes", async () => {
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

it("limits hold over all tasks of a run", async () => {
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

it("somebody who watches and throws does no harm", async () => {
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
