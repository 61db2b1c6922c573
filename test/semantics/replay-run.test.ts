/** Rule 13: a tool with `replay: "run"` runs again in a later attempt, after an error just as after a success. */
import { bash, defineTool, edit, type Outcome, type Runtime, type ToolPolicies, write } from "toolwright";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createClock, createWorld, until, type World } from "./harness.ts";

const task = { runId: "r1" };
type Own = ToolPolicies<{ n: number }, string, object>;

function createStep(behave: (runs: number, signal: AbortSignal) => unknown, policies: Own = {}) {
  let runs = 0;
  const step = defineTool({
    name: "step",
    schema: z.object({ n: z.number() }),
    sideEffect: true,
    idempotent: false,
    replay: "run",
    ...policies,
    execute: async (_args, ctx) => (await behave((runs += 1), ctx.signal)) as string,
  });
  return { step, runs: () => runs };
}

const failFirst = (runs: number): string => {
  if (runs === 1) throw new Error("exit 3");
  return "done";
};

describe.each([
  ["a program", {}],
  ["a model", { toolCallId: "c1" }],
])("called by %s", (_who, how) => {
  it.each<[string, Own]>([
    ["nothing about unknown outcomes", {}],
    ["tell", { onUnknown: "tell" }],
    ["ask", { onUnknown: "ask" }],
    ["fail", { onUnknown: "fail" }],
    ["run", { onUnknown: "run" }],
  ])("rule 13: runs again after an error if the tool says %s", async (_name, policies) => {
    const world = await createWorld();
    const { step, runs } = createStep(failFirst, policies);
    const runtime = await world.runtime();
    expect(await runtime.call(step, { n: 1 }, { ...task, ...how })).toMatchObject({
      error: { message: "exit 3" },
    });
    expect(await runtime.call(step, { n: 1 }, { ...task, ...how, attempt: 2 })).toMatchObject({
      status: "success",
      output: "done",
    });
    expect(runs()).toBe(2);
  });
});

it("rule 13: the error of each attempt is its own", async () => {
  const world = await createWorld();
  const { step, runs } = createStep(
    (count) => {
      throw new Error(`failure ${count}`);
    },
    { onUnknown: "tell" },
  );
  const runtime = await world.runtime();
  for (const attempt of [1, 2, 3]) {
    expect(await runtime.call(step, { n: 1 }, { ...task, attempt })).toMatchObject({
      error: { code: "TOOL_EXECUTION_FAILED", message: `failure ${attempt}` },
    });
  }
  expect(runs()).toBe(3);
  expect(await runtime.approvals()).toEqual([]);
});

it("rule 13: a business key wins: its effect is not made again after an error", async () => {
  const world = await createWorld();
  const { step, runs } = createStep(failFirst, { idempotencyKey: () => "k" });
  const runtime = await world.runtime();
  await runtime.call(step, { n: 1 }, task);
  expect(await runtime.call(step, { n: 1 }, { ...task, attempt: 2 })).toMatchObject({ status: "pending" });
  expect(runs()).toBe(1);
});

it("rule 20: an approved call that failed runs again without a second approval", async () => {
  const world = await createWorld();
  const { step, runs } = createStep(failFirst, { needsApproval: true });
  const runtime = await world.runtime();
  const pending = await runtime.call(step, { n: 1 }, task);
  if (pending.status !== "pending") throw new Error(pending.status);
  await runtime.resolveToolApproval(pending.approval.id, { approved: true });
  expect(await (await world.runtime()).call(step, { n: 1 }, task)).toMatchObject({ status: "error" });
  const later = await (await world.runtime()).call(step, { n: 1 }, { ...task, attempt: 2 });
  expect(later).toMatchObject({ status: "success" });
  expect(runs()).toBe(2);
});

describe("an approved call whose effect is in doubt", () => {
  const hangFirst = (runs: number, signal: AbortSignal): unknown =>
    runs === 1 ? untilStopped(signal) : "done";

  it.each<[string, Own, (runs: number, signal: AbortSignal) => unknown]>([
    ["an idempotent call that failed", { idempotent: true }, failFirst],
    ["an idempotent call that timed out", { idempotent: true, timeoutMs: 20 }, hangFirst],
    ["a call with replay: run that failed", {}, failFirst],
    ["a call with replay: run that timed out", { timeoutMs: 20 }, hangFirst],
  ])("rule 20: %s runs again without a second approval", async (_name, policies, behave) => {
    const world = await createWorld();
    const inner = createStep(behave, { needsApproval: true, ...policies });
    const outer = defineTool({
      name: "outer",
      schema: z.object({}),
      retry: { maxRetries: 1, backoffMs: 0 },
      execute: () => inner.step.execute({ n: 1 }),
    });
    const runtime = await world.runtime();
    await approvePending(runtime, await runtime.call(outer, {}, task));
    // The enclosing call retries.
    expect(await runtime.call(outer, {}, task)).toMatchObject({ status: "success", output: "done" });
    expect(inner.runs()).toBe(2);

    const alone = createStep(behave, { needsApproval: true, ...policies });
    const next = { runId: "r2" };
    await approvePending(runtime, await runtime.call(alone.step, { n: 1 }, next), { n: 2 });
    expect(await runtime.call(alone.step, { n: 1 }, next)).toMatchObject({ status: "error" });
    expect(await runtime.call(alone.step, { n: 1 }, { ...next, attempt: 2 })).toMatchObject({
      status: "success",
    });
    expect(await world.log("r2")).toMatchObject([{ input_json: '{"n":2}' }, { input_json: '{"n":2}' }]);
  });

  it("rule 20: runs again only with a new approval if the tool has changed", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const { step } = createStep(failFirst, { needsApproval: true });
    await approvePending(runtime, await runtime.call(step, { n: 1 }, task));
    expect(await runtime.call(step, { n: 1 }, task)).toMatchObject({ status: "error" });
    const changed = createStep(() => "done", { needsApproval: true, idempotent: true });
    expect(await runtime.call(changed.step, { n: 1 }, { ...task, attempt: 2 })).toMatchObject({
      status: "pending",
    });
  });

  it("rule 20: an expired request approves nothing", async () => {
    const world = await createWorld();
    const clock = createClock();
    const runtime = await world.runtime({ clock, approvalTtlMs: 1_000 });
    let isRisky = false;
    const { step, runs } = createStep(failFirst, {
      idempotent: true,
      needsApproval: () => isRisky,
    });
    expect(await runtime.call(step, { n: 1 }, task)).toMatchObject({ status: "error" });
    isRisky = true;
    expect(await runtime.call(step, { n: 1 }, { ...task, attempt: 2 })).toMatchObject({ status: "pending" });
    await clock.advance(2_000);
    expect(await runtime.call(step, { n: 1 }, { ...task, attempt: 2 })).toMatchObject({ status: "error" });
    expect(await runtime.call(step, { n: 1 }, { ...task, attempt: 3 })).toMatchObject({ status: "pending" });
    expect(runs()).toBe(1);
  });
});

async function approvePending(runtime: Runtime, outcome: Outcome, approvedArgs?: object): Promise<void> {
  if (outcome.status !== "pending") throw new Error(outcome.status);
  await runtime.resolveToolApproval(outcome.approval.id, { approved: true, approvedArgs });
}

/** Stops on abort, as commands do. */
function untilStopped(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("stopped")));
  });
}

/** Cuts a call off by aborting its run, as Ctrl-C and the timeout of a task do. */
async function cut(world: World, tool: object, args: object, isInside: () => boolean): Promise<void> {
  const stop = new AbortController();
  const runtime = await world.runtime();
  const call = runtime.run({ ...task, signal: stop.signal }, () => runtime.call(tool, args));
  await until(isInside);
  stop.abort(new Error("Ctrl-C"));
  await call;
}

describe("cut off in its first attempt", () => {
  const hangFirst = (runs: number, signal: AbortSignal): unknown =>
    runs === 1 ? untilStopped(signal) : "done";

  it("rule 16: requests approval in the same attempt if no model reads the result, and continues after the decision", async () => {
    const world = await createWorld();
    const { step, runs } = createStep(hangFirst, { onUnknown: "tell" });
    await cut(world, step, { n: 1 }, () => runs() === 1);
    await world.killAll();
    const runtime = await world.runtime();
    const outcome = await runtime.call(step, { n: 1 }, task);
    if (outcome.status !== "pending") throw new Error(outcome.status);
    expect(outcome.approval.prompt).toContain("Ctrl-C");
    await runtime.resolveToolApproval(outcome.approval.id, { resolution: "run-again" });
    expect(await (await world.runtime()).call(step, { n: 1 }, task)).toMatchObject({ output: "done" });
  });

  it("rule 13: runs again in a later attempt if no model reads the result", async () => {
    const world = await createWorld();
    const { step, runs } = createStep(hangFirst, { onUnknown: "tell" });
    await cut(world, step, { n: 1 }, () => runs() === 1);
    await world.killAll();
    const runtime = await world.runtime();
    expect(await runtime.call(step, { n: 1 }, { ...task, attempt: 2 })).toMatchObject({ output: "done" });
    expect(await runtime.approvals()).toEqual([]);
  });

  it("rule 16: the model receives the error in a later attempt, and its next call runs", async () => {
    const world = await createWorld();
    const { step, runs } = createStep(hangFirst, { onUnknown: "tell" });
    await cut(world, step, { n: 1 }, () => runs() === 1);
    await world.killAll();
    const runtime = await world.runtime();
    const how = { ...task, attempt: 2, toolCallId: "c1" };
    expect(await runtime.call(step, { n: 1 }, how)).toMatchObject({
      error: { code: "TOOL_OUTCOME_UNKNOWN", message: expect.stringContaining("Ctrl-C") },
    });
    expect(await runtime.call(step, { n: 1 }, { ...how, toolCallId: "c2" })).toMatchObject({
      output: "done",
    });
  });
});

it("rule 13: an inner call that failed runs again with the next try of the enclosing call", async () => {
  const world = await createWorld();
  const { step, runs } = createStep(failFirst, { onUnknown: "tell" });
  const outer = defineTool({
    name: "outer",
    schema: z.object({}),
    retry: { maxRetries: 1, backoffMs: 0 },
    execute: () => step.call({ n: 1 }),
  });
  expect(await (await world.runtime()).call(outer, {}, task)).toMatchObject({ output: "done" });
  expect(runs()).toBe(2);
});

describe("the built-in tools", () => {
  const inFolder = async (work: (runtime: Runtime, folder: string) => Promise<void>): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), "toolwright-"));
    const world = await createWorld();
    await work(await world.runtime({ rootDir: folder, isolation: "off" }), folder);
  };

  it("rule 13: bash runs again after a command that failed", () =>
    inFolder(async (runtime, folder) => {
      const command = { cmd: "sh", args: ["-c", "echo x >> log; test -e ok || exit 3; echo fine"] };
      const first = await runtime.call(bash, command, task);
      expect(first).toMatchObject({ status: "error", error: { code: expect.not.stringMatching("UNKNOWN") } });
      writeFileSync(join(folder, "ok"), "");
      const second = await runtime.call(bash, command, { ...task, attempt: 2 });
      expect(second).toMatchObject({ status: "success", output: expect.stringContaining("fine") });
      expect(readFileSync(join(folder, "log"), "utf8")).toBe("x\nx\n");
    }));

  it("rule 13: write and edit run again after an error", () =>
    inFolder(async (runtime, folder) => {
      const patch = { path: "a.txt", patch: "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+two\n" };
      expect(await runtime.call(edit, patch, task)).toMatchObject({ status: "error" });
      expect(await runtime.call(write, { path: "a.txt", content: "one\n" }, task)).toMatchObject({
        output: "ok",
      });
      expect(await runtime.call(edit, patch, { ...task, attempt: 2 })).toMatchObject({ output: "ok" });
      expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("two\n");
    }));
});
