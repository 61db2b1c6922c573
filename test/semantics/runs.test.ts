/** Runs of every kind in one list: their kind, name, status and labels, as any process sees them. */
import { createSmartAgent, defineTool, type Runtime } from "toolwright";
import { createScriptedModel } from "toolwright/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createClock, createWorld, never, until, type World } from "./harness.ts";

const pure = defineTool({ name: "pure", schema: z.object({}), execute: async () => "done" });
const failing = defineTool({
  name: "failing",
  schema: z.object({}),
  execute: async () => {
    throw new Error("the service is down");
  },
});
const guarded = defineTool({
  name: "guarded",
  schema: z.object({ amount: z.number() }),
  sideEffect: true,
  idempotent: false,
  needsApproval: true,
  execute: async (_args, ctx) => ctx.idempotencyKey,
});

/** A tool that hangs once it is called. */
function hanging() {
  const state = { isAtWork: false };
  const tool = defineTool({
    name: "hang",
    schema: z.object({}),
    sideEffect: true,
    idempotent: false,
    execute: (_args, ctx) => {
      state.isAtWork = ctx.idempotencyKey !== "";
      return never<string>();
    },
  });
  return { tool, isAtWork: () => until(() => state.isAtWork) };
}

/** A bare call in a new run "r". It executes until `end` is called. */
async function startSlowCall(runtime: Runtime) {
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const slow = defineTool({
    name: "slow",
    schema: z.object({}),
    execute: () => {
      begun.resolve();
      return gate.promise;
    },
  });
  const call = runtime.call(slow, {}, { runId: "r", nodeId: "a" });
  await begun.promise;
  return { call, end: () => gate.resolve() };
}

async function open(): Promise<{ world: World; runtime: Runtime; reader: Runtime }> {
  const world = await createWorld();
  return { world, runtime: await world.runtime(), reader: await world.runtime() };
}

async function only(reader: Runtime, filter = {}) {
  const { runs } = await reader.runs(filter);
  expect(runs).toHaveLength(1);
  return runs[0];
}

describe("a program", () => {
  test("is running while its scope is open, and finished when it is closed", async () => {
    const { runtime, reader } = await open();
    await runtime.run({ runId: "p", name: "nightly", labels: { team: "blue" } }, async () => {
      await runtime.call(pure, {});
      expect(await only(reader)).toMatchObject({ status: "running", interrupted: false, finishedAtMs: null });
    });
    expect(await only(reader)).toEqual({
      runId: "p",
      kind: "program",
      name: "nightly",
      status: "finished",
      interrupted: false,
      createdAtMs: expect.any(Number),
      updatedAtMs: expect.any(Number),
      finishedAtMs: expect.any(Number),
      tasks: 1,
      calls: 1,
      pendingApprovals: 0,
      labels: { team: "blue" },
      why: expect.stringMatching(/^It finished after /),
    });
  });

  test("is running until all of its scopes are closed", async () => {
    const { runtime, reader } = await open();
    const gate = Promise.withResolvers<void>();
    const first = runtime.run({ runId: "p", nodeId: "a" }, () => gate.promise);
    await runtime.run({ runId: "p", nodeId: "b" }, () => runtime.call(pure, {}));
    expect(await only(reader)).toMatchObject({ status: "running", tasks: 2 });
    gate.resolve();
    await first;
    expect(await only(reader)).toMatchObject({ status: "finished" });
  });

  test("fails when its function throws, and finishes when it runs again and returns", async () => {
    const { runtime, reader } = await open();
    const broken = runtime.run({ runId: "p" }, () => Promise.reject(new Error("no such customer")));
    await expect(broken).rejects.toThrow("no such customer");
    expect(await only(reader, { status: "failed" })).toMatchObject({
      status: "failed",
      why: "It failed: no such customer",
    });
    expect(await reader.explainRun("p")).toMatchObject({
      because: [expect.stringContaining("failed: no such customer"), expect.stringContaining("same run id")],
    });
    await runtime.run({ runId: "p" }, () => undefined);
    expect(await only(reader)).toMatchObject({ status: "finished" });
    expect((await reader.describeRun("p")).error).toBeNull();
  });

  test("is interrupted when its owner is dead, and its call is unknown", async () => {
    const { world, runtime } = await open();
    const { tool, isAtWork } = hanging();
    void runtime.run({ runId: "p" }, () => runtime.call(tool, {})).catch(() => undefined);
    await isAtWork();
    await world.killAll();
    const reader = await world.runtime();
    expect(await only(reader, { status: "running" })).toMatchObject({ status: "running", interrupted: true });
    expect(await only(reader, { status: "interrupted" })).toMatchObject({ runId: "p" });
    const described = await reader.describeRun("p");
    expect(described.counts.calls).toMatchObject({ started: 0, unknown: 1 });
    expect(described.tree).toMatchObject([{ nodeId: "main", kind: "task", status: "interrupted" }]);
    const { because } = await reader.explainRun("p");
    expect(because.join("\n")).toMatch(/was interrupted[^]*"hang"[^]*is unknown/);
  });

  test("waits for approval after it has returned, and finishes after the decision", async () => {
    const { runtime, reader } = await open();
    const work = () => runtime.run({ runId: "p" }, () => runtime.call(guarded, { amount: 5 }));
    const pending = await work();
    expect(pending.status).toBe("pending");
    expect(await only(reader, { status: "waiting-approval" })).toMatchObject({
      pendingApprovals: 1,
      why: expect.stringMatching(/^It waits for approval: /),
    });
    const [request] = await reader.approvals();
    await reader.resolveToolApproval(request?.id ?? "", { approved: true });
    expect((await only(reader))?.why).toMatch(/every request has been decided/i);
    await work();
    expect(await only(reader)).toMatchObject({ status: "finished", pendingApprovals: 0 });
  });
});

describe("a bare call", () => {
  test("is a separate run, with the name of its tool", async () => {
    const { runtime, reader } = await open();
    await runtime.call(pure, {}, { labels: { team: "red" } });
    await runtime.call(failing, {}, { runId: "named" });
    const { runs } = await reader.runs();
    expect(runs.map(({ kind, name, status, calls }) => ({ kind, name, status, calls }))).toEqual([
      { kind: "program", name: "failing", status: "finished", calls: 1 },
      { kind: "program", name: "pure", status: "finished", calls: 1 },
    ]);
    expect(await only(reader, { label: "team=red" })).toMatchObject({ name: "pure" });
  });

  test("is running while it executes, even the second call of its run", async () => {
    const { runtime, reader } = await open();
    const { tool, isAtWork } = hanging();
    await runtime.call(pure, {}, { runId: "r" });
    void runtime.call(tool, {}, { runId: "r" }).catch(() => undefined);
    await isAtWork();
    expect(await only(reader)).toMatchObject({ status: "running", interrupted: false, calls: 2 });
  });

  test.each(["this process", "another one"])(
    "does not end its run while a task of %s is open",
    async (whose) => {
      const { world, runtime, reader } = await open();
      const { call, end } = await startSlowCall(runtime);
      const other = whose === "another one" ? await world.runtime() : runtime;
      await other.run({ runId: "r", nodeId: "b" }, async () => {
        end();
        await call;
        expect(await only(reader)).toMatchObject({ status: "running", finishedAtMs: null });
      });
      expect(await only(reader)).toMatchObject({ status: "finished" });
    },
  );

  test("does not end its run after a call of another process waits in it", async () => {
    const { runtime, reader } = await open();
    const { call, end } = await startSlowCall(runtime);
    await reader.call(guarded, { amount: 5 }, { runId: "r", nodeId: "b" });
    end();
    await call;
    expect(await only(reader)).toMatchObject({ status: "waiting-approval", pendingApprovals: 1 });
  });

  test("is interrupted when its owner is dead", async () => {
    const { world, runtime } = await open();
    const { tool, isAtWork } = hanging();
    void runtime.call(tool, {}, { runId: "r" }).catch(() => undefined);
    await isAtWork();
    await world.killAll();
    const reader = await world.runtime();
    expect(await only(reader, { status: "interrupted" })).toMatchObject({ status: "running" });
    expect((await reader.describeRun("r")).counts.calls).toMatchObject({ unknown: 1 });
  });

  test("waits for approval, and finishes in the process that makes it again", async () => {
    const { world, runtime, reader } = await open();
    await runtime.call(guarded, { amount: 5 }, { runId: "r" });
    expect(await only(reader, { status: "waiting-approval" })).toMatchObject({ pendingApprovals: 1 });
    const { next } = await reader.explainRun("r");
    expect(next.map(({ action }) => action)).toEqual(["approve", "deny"]);
    for (const { command } of next) expect(command).toMatch(/^npx toolwright (approve|deny) apr_\S+/);
    const [request] = await reader.approvals();
    await reader.resolveToolApproval(request?.id ?? "", { approved: true });
    const other = await world.runtime();
    await other.call(guarded, { amount: 5 }, { runId: "r" });
    expect(await only(reader)).toMatchObject({ status: "finished" });
  });

  test("that was aborted before it began does not leave its run running", async () => {
    const { runtime, reader } = await open();
    await runtime.call(pure, {}, { runId: "r", signal: AbortSignal.abort() }).catch(() => undefined);
    for (const { status } of (await reader.runs()).runs) expect(status).toBe("finished");
  });
});

test("an agent is listed with its name, and its tree shows its turns", async () => {
  const { runtime, reader } = await open();
  const agent = createSmartAgent({
    name: "clerk",
    model: createScriptedModel([[{ toolName: "pure", input: {} }], "done", "again"]),
    tools: [pure],
    runtime,
  });
  const first = await agent.invoke({ runId: "a", messages: [{ role: "user", content: "go" }] });
  expect(await only(reader, { kind: "agent" })).toMatchObject({
    name: "clerk",
    status: "finished",
    calls: 1,
  });
  await agent.invoke({ ...first.state, messages: [...first.messages, { role: "user", content: "more" }] });
  const { tree, tasks } = await reader.describeRun("a");
  expect(tree).toMatchObject([
    { nodeId: "main", kind: "turn", iteration: 0, status: "finished" },
    { nodeId: "main", kind: "turn", iteration: 1, status: "finished" },
  ]);
  expect(tasks).toBe(2);
});

test("an agent whose model fails is a failed run", async () => {
  const { runtime, reader } = await open();
  const agent = createSmartAgent({ name: "clerk", model: createScriptedModel([]), tools: [], runtime });
  await agent.invoke({ runId: "a", messages: [{ role: "user", content: "go" }] }).catch(() => undefined);
  expect(await only(reader)).toMatchObject({ kind: "agent", status: "failed" });
});

describe("the list", () => {
  async function many(runtime: Runtime, count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      await runtime.run(
        { runId: `run-${String(index).padStart(2, "0")}`, labels: { n: String(index % 2) } },
        () => runtime.call(pure, {}),
      );
    }
  }

  test("is paged, newest first, without gaps or repeats", async () => {
    const { runtime, reader } = await open();
    await many(runtime, 7);
    const found: string[] = [];
    let before: string | undefined;
    for (;;) {
      const page = await reader.runs({ limit: 3, before });
      found.push(...page.runs.map(({ runId }) => runId));
      if (page.next === null) break;
      before = page.next;
    }
    expect(found).toEqual(["06", "05", "04", "03", "02", "01", "00"].map((n) => `run-${n}`));
    expect((await reader.runs({ before: "run-02" })).runs.map(({ runId }) => runId)).toEqual([
      "run-01",
      "run-00",
    ]);
  });

  test("of interrupted runs leaves none out, even if runs that do not fit are between them", async () => {
    const { world, runtime } = await open();
    const start = async (owner: Runtime, runId: string): Promise<void> => {
      const begun = Promise.withResolvers<void>();
      const work = async (): Promise<never> => {
        await owner.call(pure, {});
        begun.resolve();
        return never();
      };
      void owner.run({ runId }, work).catch(() => undefined);
      await begun.promise;
    };
    for (const runId of ["a", "b", "c"]) await start(runtime, runId);
    await world.killAll();
    const reader = await world.runtime();
    await start(reader, "d");
    const first = await reader.runs({ status: "interrupted", limit: 2 });
    expect(first.runs.map(({ runId }) => runId)).toEqual(["c", "b"]);
    const second = await reader.runs({ status: "interrupted", limit: 2, before: first.next ?? undefined });
    expect(second).toMatchObject({ runs: [{ runId: "a" }], next: null });
  });

  test("is filtered by label, text, kind, status and all of them together", async () => {
    const { runtime, reader } = await open();
    await many(runtime, 4);
    const ids = async (filter: object) => (await reader.runs(filter)).runs.map(({ runId }) => runId);
    expect(await ids({ label: "n=1" })).toEqual(["run-03", "run-01"]);
    expect(await ids({ label: "n=1", limit: 1 })).toEqual(["run-03"]);
    expect(await ids({ q: "UN-02" })).toEqual(["run-02"]);
    expect(await ids({ q: "%" })).toEqual([]);
    expect(await ids({ kind: "agent" })).toEqual([]);
    expect(await ids({ workflow: "program" })).toEqual([]);
    expect(await ids({ status: "finished", kind: "program", label: "n=0", q: "00" })).toEqual(["run-00"]);
  });

  test.each([
    [{ status: "sleeping" }, /status/],
    [{ kind: "job" }, /kind/],
    [{ label: "team" }, /key=value/],
    [{ limit: 0 }, /from 1 to 200/],
    [{ limit: 201 }, /from 1 to 200/],
    [{ limit: "5" }, /from 1 to 200/],
    [{ before: "nothing" }, /"next" of a page/],
    [{ stauts: "failed" }, /stauts/],
  ])("refuses %j", async (filter, message) => {
    const { reader } = await open();
    await expect(reader.runs(filter as never)).rejects.toMatchObject({
      code: "TOOL_OPTION_INVALID",
      message: expect.stringMatching(message),
    });
  });

  test("does not show a run that retention has deleted, even if it ended in the same millisecond", async () => {
    const { world, reader } = await open();
    const runtime = await world.runtime({ clock: createClock() });
    await many(runtime, 2);
    expect(await runtime.gc({ olderThanMs: 1 })).toMatchObject({ deletedRuns: 0 });
    expect(await runtime.gc({ olderThanMs: 0 })).toMatchObject({ deletedRuns: 2 });
    expect(await reader.runs()).toEqual({ runs: [], next: null });
    await expect(reader.describeRun("run-00")).rejects.toMatchObject({ code: "TOOL_RUN_DELETED" });
    await expect(reader.explainRun("nothing")).rejects.toMatchObject({ code: "TOOL_RUN_NOT_FOUND" });
  });
});

test.each([".", ".."])("refuses the run id %j", async (runId) => {
  const { runtime } = await open();
  for (const made of [
    () => runtime.run({ runId }, () => undefined),
    () => runtime.call(pure, {}, { runId }),
    () => runtime.describeRun(runId),
  ])
    await expect(made()).rejects.toMatchObject({
      code: "TOOL_OPTION_INVALID",
      message: expect.stringContaining("means a folder"),
    });
});

test.each([[{ "": "x" }], [{ "a=b": "x" }], [{ a: 1 }], [["a"]]])("refuses the labels %j", async (labels) => {
  const { runtime } = await open();
  await expect(runtime.run({ runId: "r", labels: labels as never }, () => undefined)).rejects.toMatchObject({
    code: "TOOL_OPTION_INVALID",
  });
});
