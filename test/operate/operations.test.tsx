/** @jsxImportSource toolwright */
/** The operations of operators, on both stores, from a process that did not start the run. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRuntime, createSmithers, defineTool, type Runtime, runWorkflow } from "toolwright";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { listShownApprovals, readShownApproval } from "../../src/operate/list-approvals.ts";
import { listCallPage } from "../../src/operate/list-call-page.ts";
import { PIECE_CHARS, readCallPart } from "../../src/operate/read-call-part.ts";
import { cancelAnyRun, requestResume } from "../../src/operate/steer-run.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import { watchStore } from "../../src/store/watch-store.ts";
import { STORE_KINDS, type StoreKind } from "../store-kinds.ts";
import { bundled } from "../started-programs.ts";

const SYNTAX = { program: "toolwright", store: undefined };

const text = defineTool({
  name: "text",
  schema: z.object({ length: z.number() }),
  execute: async ({ length }) => "x".repeat(length),
});
const dated = defineTool({
  name: "dated",
  schema: z.object({ length: z.number() }),
  execute: ({ length }) => (length === 0 ? undefined : { at: new Date("2026-01-01T00:00:00Z") }),
});
const pay = defineTool({
  name: "pay",
  schema: z.object({ amount: z.number() }),
  sideEffect: true,
  idempotent: false,
  needsApproval: true,
  execute: async (_args, ctx) => ctx.idempotencyKey,
});

async function open(kind: StoreKind): Promise<{ address: string; runtime: Runtime; store: Store }> {
  const { address, ...fresh } = await kind.fresh();
  const runtime = createRuntime({ store: address });
  const store = await openStore(address);
  onTestFinished(async () => {
    await runtime.close();
    await store.close();
    await fresh[Symbol.asyncDispose]();
  });
  return { address, runtime, store };
}

describe.each(STORE_KINDS)("on $name", (kind) => {
  test("the tree of a workflow shows tasks to come, live and after the end", async () => {
    const { address, runtime } = await open(kind);
    await using reader = createRuntime({ store: address });
    const { Workflow, Task, Parallel, Loop, smithers, outputs } = createSmithers(
      { out: z.object({ n: z.number() }) },
      { dbPath: ":memory:" },
    );
    let seen: unknown;
    const workflow = smithers(() => (
      <Workflow name="orders">
        <Task id="first" output={outputs.out}>
          {{ n: 1 }}
        </Task>
        <Parallel>
          <Task id="left" output={outputs.out}>
            {async () => {
              await runtime.call(text, { length: 1 });
              seen = (await reader.describeRun("w")).tree;
              return { n: 2 };
            }}
          </Task>
        </Parallel>
        <Loop id="repeat" maxIterations={2} until={false}>
          <Task id="again" output={outputs.out}>
            {{ n: 3 }}
          </Task>
        </Loop>
      </Workflow>
    ));
    await runWorkflow(workflow, { runId: "w", runtime, labels: { customer: "acme" } });
    expect(seen).toMatchObject([
      { nodeId: "first", kind: "task", status: "finished", attempt: 1, children: [] },
      { kind: "parallel", status: "running", children: [{ nodeId: "left", status: "running" }] },
      { kind: "loop", status: "pending", children: [{ nodeId: "again", status: "pending", attempt: null }] },
    ]);
    const described = await reader.describeRun("w");
    expect(described).toMatchObject({
      kind: "workflow",
      name: "orders",
      status: "finished",
      tasks: 4,
      labels: { customer: "acme" },
      counts: { tasks: { finished: 4, pending: 0 } },
      lineage: { parent: null, forks: [] },
      error: null,
    });
    const [, parallel] = described.tree;
    const left = parallel?.children[0];
    expect(parallel).toMatchObject({ startedAtMs: left?.startedAtMs, finishedAtMs: left?.finishedAtMs });
    expect(described.tree[2]).toMatchObject({
      nodeId: "repeat",
      kind: "loop",
      status: "finished",
      children: [
        { nodeId: "again", iteration: 0, path: "0", status: "finished" },
        { nodeId: "again", iteration: 1, path: "1", status: "finished" },
      ],
    });
    expect((await reader.runs({ workflow: "orders" })).runs).toHaveLength(1);
    expect((await reader.runs({ label: "customer=acme", kind: "workflow" })).runs).toHaveLength(1);
  });

  test("a task that has made no call yet is running, with the time of its start once it has ended", async () => {
    const { address, runtime } = await open(kind);
    await using reader = createRuntime({ store: address });
    const { Workflow, Task, smithers, outputs } = createSmithers({ out: z.number() }, { dbPath: ":memory:" });
    const isSeen = Promise.withResolvers<number>();
    const workflow = smithers(() => (
      <Workflow name="slow">
        <Task id="thinks" output={outputs.out}>
          {() => isSeen.promise}
        </Task>
        <Task id="later" output={outputs.out}>
          {1}
        </Task>
      </Workflow>
    ));
    const ended = runWorkflow(workflow, { runId: "slow", runtime });
    await expect
      .poll(async () => (await reader.runs()).runs.length > 0 && (await reader.describeRun("slow")).tree)
      .toMatchObject([
        { nodeId: "thinks", status: "running", startedAtMs: null },
        { nodeId: "later", status: "pending" },
      ]);
    const seenAtMs = Date.now();
    await expect.poll(() => Date.now()).toBeGreaterThan(seenAtMs);
    isSeen.resolve(1);
    await ended;
    const [thinks] = (await reader.describeRun("slow")).tree;
    expect(thinks?.status).toBe("finished");
    expect(Number(thinks?.startedAtMs)).toBeLessThanOrEqual(seenAtMs);
    expect(Number(thinks?.finishedAtMs)).toBeGreaterThan(seenAtMs);
  });

  test("previews of calls have no tags of the stored form", async () => {
    const { runtime, store } = await open(kind);
    await runtime.run({ runId: "r" }, async () => {
      for (const length of [0, 3]) await runtime.call(dated, { length });
    });
    const { calls } = await listCallPage(store, "r");
    expect(calls.map(({ outputPreview }) => outputPreview)).toEqual([
      '{"at":"2026-01-01T00:00:00.000Z"}',
      "null",
    ]);
  });

  test("pages of calls show previews, newest first; a part is read piece by piece", async () => {
    const { runtime, store } = await open(kind);
    await runtime.run({ runId: "r" }, async () => {
      for (const length of [3, 1_000, 150_000]) await runtime.call(text, { length });
    });
    const { calls, next } = await listCallPage(store, "r");
    expect(next).toBeNull();
    expect(calls.map(({ seq }) => seq)).toEqual([3, 2, 1]);
    expect(calls[2]).toMatchObject({
      toolName: "text",
      nodeId: "main",
      status: "success",
      durationMs: expect.any(Number),
      tries: 1,
      replayed: false,
      fromCache: false,
      approvalId: null,
      inputPreview: '{"length":3}',
      outputPreview: '"xxx"',
      error: null,
    });
    for (const { outputPreview } of calls.slice(0, 2)) expect(outputPreview?.length).toBe(300);
    const first = await listCallPage(store, "r", { limit: 2 });
    const second = await listCallPage(store, "r", { limit: 2, before: first.next ?? "" });
    expect([...first.calls, ...second.calls]).toEqual(calls);
    expect(second.next).toBeNull();
    const [long] = calls;
    const at = { key: long?.key ?? "", attempt: 1 };
    const piece = await readCallPart(store, at, "output");
    expect(piece).toMatchObject({ offset: 0, nextOffset: PIECE_CHARS, totalChars: 150_002 });
    expect(await readCallPart(store, { ...at, runId: "r" }, "output")).toEqual(piece);
    await expect(readCallPart(store, { ...at, runId: "other" }, "output")).rejects.toMatchObject({
      code: "TOOL_CALL_NOT_FOUND",
    });
    const rest = await readCallPart(store, at, "output", 2 * PIECE_CHARS);
    expect(rest).toMatchObject({ nextOffset: null, text: `${"x".repeat(150_001 - 2 * PIECE_CHARS)}"` });
    expect(await readCallPart(store, at, "error")).toMatchObject({ text: "", totalChars: 0 });
    await expect(readCallPart(store, { key: "none", attempt: 1 }, "input")).rejects.toMatchObject({
      code: "TOOL_CALL_NOT_FOUND",
    });
    await expect(listCallPage(store, "r", { before: "x" })).rejects.toMatchObject({
      code: "TOOL_OPTION_INVALID",
    });
  });

  test("an approval shows its arguments, schema and hash; cancelling its run makes it void", async () => {
    const { runtime, store } = await open(kind);
    await runtime.run({ runId: "r" }, () => runtime.call(pay, { amount: 5 }));
    const [request] = await listShownApprovals(store, { status: "pending" });
    expect(request).toMatchObject({
      kind: "call",
      args: { amount: 5 },
      argsHash: expect.stringMatching(/./),
      prompt: expect.any(String),
      schema: { type: "object", properties: { amount: { type: "number" } } },
      expiresAtMs: null,
      resolutions: null,
    });
    expect(await requestResume(store, "r", SYNTAX)).toMatchObject({ by: null, command: null });
    expect(await cancelAnyRun(store, "r")).toMatchObject({ outcome: "cancelled" });
    expect(await runtime.describeRun("r")).toMatchObject({ status: "cancelled", pendingApprovals: 0 });
    expect(await readShownApproval(store, request?.id ?? "")).toMatchObject({ status: "void" });
    await expect(readShownApproval(store, "apr_none")).rejects.toMatchObject({
      code: "TOOL_APPROVAL_NOT_FOUND",
    });
  });

  test("only the program itself can stop a run that it is running", async () => {
    const { runtime, store } = await open(kind);
    await runtime.run({ runId: "r" }, async () => {
      await expect(cancelAnyRun(store, "r")).rejects.toMatchObject({ code: "TOOL_RUN_CONFLICT" });
      expect(await requestResume(store, "r", SYNTAX)).toMatchObject({ by: "owner" });
    });
    expect(await cancelAnyRun(store, "r")).toMatchObject({ outcome: "already-ended" });
    await expect(requestResume(store, "r", SYNTAX)).rejects.toMatchObject({ code: "TOOL_RUN_CONFLICT" });
  });

  test("a watch notices the commits of another process, and nothing while nothing is committed", async () => {
    const { runtime, store } = await open(kind);
    await runtime.ready();
    const changed = Promise.withResolvers<void>();
    const watch = await watchStore(store, () => changed.resolve(), { everyMs: 5 });
    await runtime.call(text, { length: 1 });
    await changed.promise;
    watch.close();
    const before = await store.version?.();
    await store.read(function* () {});
    if (kind.name === "SQLite") expect(await store.version?.()).toBe(before);
  });

  test("runs of a killed process are interrupted, and their calls are unknown", async () => {
    const { address, runtime, store } = await open(kind);
    const program = bundled(new URL("programs/interrupted-runs.ts", import.meta.url));
    const child = spawn(process.execPath, [program, address], { stdio: ["ignore", "pipe", "ignore"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    for (const { status, interrupted } of (await runtime.runs()).runs)
      expect({ status, interrupted }).toEqual({ status: "running", interrupted: false });
    child.kill("SIGKILL");
    await once(child, "close");
    const { runs } = await runtime.runs({ status: "interrupted" });
    expect(runs.map(({ runId, kind: of, status }) => `${runId} ${of} ${status}`).toSorted()).toEqual([
      "bare program running",
      "program program running",
      "workflow workflow running",
    ]);
    for (const { runId } of runs) {
      expect((await runtime.describeRun(runId)).counts.calls).toMatchObject({ started: 0, unknown: 1 });
      const [call] = (await listCallPage(store, runId)).calls;
      expect(call).toMatchObject({ toolName: "hang", status: "unknown", durationMs: null });
      const { because } = await runtime.explainRun(runId);
      expect(because.join("\n")).toMatch(/was interrupted[^]*is unknown/);
    }
    expect((await runtime.describeRun("workflow")).tree).toMatchObject([
      { nodeId: "first", status: "interrupted" },
      { nodeId: "second", status: "pending" },
    ]);
    expect(await cancelAnyRun(store, "program")).toMatchObject({ outcome: "cancelled" });
    expect((await runtime.runs({ status: "cancelled" })).runs).toMatchObject([{ runId: "program" }]);
  });
});
