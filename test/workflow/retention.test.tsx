/** Rule 30: old runs are deleted, unfinished ones stay, and no deletion makes an effect repeatable. */
import {
  createRuntime,
  createSmithers,
  defineTool,
  fromTool,
  runWorkflow,
  Task,
  type Runtime,
  type WorkflowDefinition,
  write,
} from "toolwright";
import { createFakeClock, type FakeClock, type ScriptedTurn } from "toolwright/testing";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { hostOf } from "../../src/runtime/create-runtime.ts";
import { cancelRun } from "../../src/store/tables/workflow-runs.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import { createFolder, endAllOwners, rowsOf, scriptedAgent } from "./harness.ts";

const DAY = 86_400_000;

let address: string;
let clock: FakeClock;
let runtime: Runtime;
let sent: string[];

describe.each(STORE_KINDS)("on $name", (kind) => {
  beforeEach(async () => {
    const store = await kind.fresh();
    onTestFinished(() => store[Symbol.asyncDispose]());
    address = store.address;
    clock = createFakeClock();
    sent = [];
    runtime = open();
  });

  function open(): Runtime {
    const opened = createRuntime({ store: address, clock });
    onTestFinished(() => opened[Symbol.asyncDispose]());
    return opened;
  }

  const send = defineTool({
    name: "send",
    schema: z.object({ to: z.string() }),
    outputSchema: z.string(),
    sideEffect: true,
    idempotent: false,
    idempotencyKey: ({ to }) => to,
    async execute({ to }, ctx) {
      sent.push(`${to} ${ctx.idempotencyKey}`);
      return `sent to ${to}`;
    },
  });

  function computing(work: () => unknown): WorkflowDefinition {
    const { Workflow, smithers, outputs } = createSmithers({ result: z.string() });
    return smithers(() => (
      <Workflow name="w">
        <Task id="t" output={outputs.result} retries={0}>
          {async () => String(await work())}
        </Task>
      </Workflow>
    ));
  }

  const TABLES = [
    "toolwright_calls",
    "toolwright_scopes",
    "toolwright_payloads",
    "toolwright_approvals",
    "toolwright_responses",
    "toolwright_tasks",
    "toolwright_workflow_runs",
  ];

  async function counts(): Promise<Record<string, unknown>> {
    const found = TABLES.map(async (table) => {
      const [row] = await rowsOf(address, `SELECT CAST(count(*) AS INTEGER) AS n FROM ${table}`);
      return [table.replace("toolwright_", ""), row?.["n"]] as const;
    });
    return Object.fromEntries(await Promise.all(found));
  }

  /** Those that can be read. A deleted one leaves a row without text. */
  const responses = () => rowsOf(address, "SELECT 1 FROM toolwright_responses WHERE response_json <> ''");

  const EMPTY = Object.fromEntries(TABLES.map((table) => [table.replace("toolwright_", ""), 0]));

  describe("a run that ended long ago", () => {
    test("is deleted with all its rows", async () => {
      await runWorkflow(
        computing(() => send.invoke({ to: "ann" })),
        { runtime, runId: "old" },
      );
      await clock.advance(29 * DAY);
      expect(await runtime.gc()).toMatchObject({ deletedRuns: 0 });
      await clock.advance(2 * DAY);
      expect(await runtime.gc()).toMatchObject({ deletedRuns: 1, deletedCalls: 1 });
      expect(await counts()).toEqual(EMPTY);
    });

    test("rule 30: leaves its id: it can be neither resumed nor started again", async () => {
      const workflow = computing(() => "done");
      await runWorkflow(workflow, { runtime, runId: "old" });
      await clock.advance(31 * DAY);
      await runtime.gc();
      for (const resume of [true, false]) {
        await expect(runWorkflow(workflow, { runtime, runId: "old", resume })).rejects.toMatchObject({
          code: "TOOL_RUN_DELETED",
          message: expect.stringContaining('Run "old" was deleted by retention on ') as string,
        });
      }
      const outcome = await runtime
        .call(send, { to: "ann" }, { runId: "old" })
        .catch((error: unknown) => error);
      expect(outcome).toMatchObject({ code: "TOOL_RUN_DELETED" });
      expect(sent).toEqual([]);
    });

    test("leaves its business keys: the effect is not repeated, and the error says why", async () => {
      await runWorkflow(
        computing(() => send.invoke({ to: "ann" })),
        { runtime, runId: "old" },
      );
      await clock.advance(31 * DAY);
      await runtime.gc();
      const outcome = await runtime.call(send, { to: "ann" }, { runId: "new" });
      expect(outcome).toMatchObject({
        status: "error",
        error: {
          code: "TOOL_RESULT_DELETED",
          message: expect.stringContaining("its effect happened") as string,
        },
      });
      expect(sent).toHaveLength(1);
    });

    test("leaves the fact that a tool does not pass its key on", async () => {
      const blind = defineTool({
        name: "blind",
        schema: z.object({}),
        sideEffect: true,
        idempotent: false,
        async execute(_args, ctx) {
          ctx.log.info("does not look at its key");
        },
      });
      await runtime.call(blind, {}, { runId: "old" });
      await clock.advance(31 * DAY);
      expect(await runtime.gc()).toMatchObject({ deletedRuns: 1 });
      const { hasUnreadKey } = await import("../../src/store/tables/key-reads.ts");
      const { openStore } = await import("../../src/store/open-store.ts");
      const store = await openStore(address);
      expect(await store.read(() => hasUnreadKey("blind"))).toBe(true);
      expect(await store.read(() => hasUnreadKey("send"))).toBe(false);
      await store.close();
    });

    test("is only counted by a dry run", async () => {
      await runWorkflow(
        computing(() => send.invoke({ to: "ann" })),
        { runtime, runId: "old" },
      );
      await clock.advance(31 * DAY);
      const before = await counts();
      expect(await runtime.gc({ dryRun: true })).toMatchObject({ deletedRuns: 1, deletedCalls: 1 });
      expect(await counts()).toEqual(before);
      expect(await runtime.gc({ olderThanMs: 40 * DAY })).toMatchObject({ deletedRuns: 0 });
    });
  });

  describe("unfinished work stays, however old:", () => {
    test("a run that waits for approval", async () => {
      const careful = fromTool(send, { needsApproval: true });
      const turns = [[{ toolName: "send", input: { to: "ann" } }], '"the end"'];
      await runWorkflow(asking(turns, { send: careful }), { runtime, runId: "waits" });
      const before = await counts();
      await clock.advance(400 * DAY);
      expect(await runtime.gc()).toMatchObject({ deletedRuns: 0, clearedRuns: 0 });
      expect(await counts()).toEqual(before);
    });

    test("a run that is running", async () => {
      const started = Promise.withResolvers<void>();
      const go = Promise.withResolvers<void>();
      const run = runWorkflow(
        computing(async () => {
          await send.invoke({ to: "ann" });
          started.resolve();
          await go.promise;
          return "done";
        }),
        { runtime, runId: "long" },
      );
      await started.promise;
      await clock.advance(400 * DAY);
      const other = open();
      expect(await other.gc()).toMatchObject({ deletedRuns: 0, clearedRuns: 0 });
      go.resolve();
      expect(await run).toMatchObject({ status: "finished" });
    });

    test("calls outside of workflows with an unknown outcome", async () => {
      await runtime.call(send, { to: "ann" }, { runId: "ended" });
      const cut = new AbortController();
      const slow = defineTool({
        name: "slow",
        schema: z.object({}),
        sideEffect: true,
        execute: (_args, ctx) =>
          new Promise<never>((_resolve, reject) => {
            ctx.signal.addEventListener("abort", () => reject(new Error(`cut ${ctx.idempotencyKey}`)));
            cut.abort();
          }),
      });
      await runtime.call(slow, {}, { runId: "cut", signal: cut.signal }).catch(() => undefined);
      await clock.advance(400 * DAY);
      await endAllOwners(address);
      expect(await open().gc()).toMatchObject({ deletedRuns: 1, deletedCalls: 1 });
      const runs = await rowsOf(address, "SELECT DISTINCT run_id FROM toolwright_scopes");
      expect(runs).toEqual([{ run_id: "cut" }]);
    });

    test("a run that ended long ago, and was resumed since", async () => {
      let isBroken = true;
      const workflow = computing(() => {
        if (isBroken) throw new Error("no paper");
        return "done";
      });
      await runWorkflow(workflow, { runtime, runId: "r" });
      await clock.advance(31 * DAY);
      isBroken = false;
      await runWorkflow(workflow, { runtime, runId: "r", resume: true });
      expect(await runtime.gc()).toMatchObject({ deletedRuns: 0 });
    });
  });

  function asking(script: readonly ScriptedTurn[], tools: Record<string, unknown>): WorkflowDefinition {
    const { agent } = scriptedAgent(script, { tools: tools as never });
    const { Workflow, smithers, outputs } = createSmithers({ result: z.string() });
    return smithers(() => (
      <Workflow name="asking">
        <Task id="t" output={outputs.result} agent={agent}>
          Do it.
        </Task>
      </Workflow>
    ));
  }

  describe("data that only a replay needs", () => {
    test("rules 30 and 37: is deleted when the task has its output: responses, prompts, the content of files that an approver saw", async () => {
      const rootDir = createFolder();
      const careful = fromTool(write, { needsApproval: true });
      const call = { toolName: "write", input: { path: "a.txt", content: "SECRET-CONTENT" } };
      const workflow = asking([[call], '"the end"'], { write: careful });
      const options = { runtime, runId: "r", rootDir };
      expect(await runWorkflow(workflow, options)).toMatchObject({ status: "waiting-approval" });
      const [request] = await runtime.approvals({ status: "pending" });
      expect(request?.args).toMatchObject({ content: "SECRET-CONTENT" });
      await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
      expect(await runWorkflow(workflow, { ...options, resume: true })).toMatchObject({ status: "finished" });
      expect(await counts()).toMatchObject({ responses: 0, approvals: 1, calls: 1 });
      expect(await wholeStore()).not.toContain("SECRET-CONTENT");
      const [decided] = await runtime.approvals({ status: "approved" });
      expect(decided?.args).toMatchObject({ path: "a.txt", bytes: 14 });
    });

    test("of a stopped run is kept for 7 days; then a resume starts another attempt, which is warned", async () => {
      const stop = new AbortController();
      const asked: string[] = [];
      const workflow = asking(
        [
          [{ toolName: "send", input: { to: "ann" } }],
          ({ prompt }) => {
            asked.push(JSON.stringify(prompt));
            if (asked.length > 1) return '"the end"';
            stop.abort();
            throw new Error("cut off");
          },
        ],
        { send },
      );
      expect(await runWorkflow(workflow, { runtime, runId: "r", signal: stop.signal })).toMatchObject({
        status: "cancelled",
      });
      await clock.advance(6 * DAY);
      expect(await runtime.gc()).toMatchObject({ clearedRuns: 0 });
      expect(await responses()).not.toEqual([]);
      await clock.advance(2 * DAY);
      expect(await runtime.gc()).toMatchObject({ clearedRuns: 1, deletedRuns: 0 });
      expect(await responses()).toEqual([]);
      expect(await counts()).toMatchObject({ calls: 1 });
      expect(await runtime.gc()).toMatchObject({ clearedRuns: 0 });
      expect(await runWorkflow(workflow, { runtime, runId: "r", resume: true })).toMatchObject({
        status: "finished",
      });
      expect(sent).toHaveLength(1);
      const [task] = await rowsOf(address, "SELECT attempt, status FROM toolwright_tasks");
      expect(task).toEqual({ attempt: 2, status: "finished" });
      expect(asked.at(-1)).toContain("send");
    });

    test("of a run that was cancelled while it waited is deleted too, and its next attempt is warned", async () => {
      const asked: string[] = [];
      const careful = fromTool(write, { needsApproval: true });
      const calls = [
        { toolName: "send", input: { to: "ann" } },
        { toolName: "write", input: { path: "a.txt", content: "A" } },
      ];
      const workflow = asking(
        [
          calls,
          ({ prompt }) => {
            asked.push(JSON.stringify(prompt));
            return '"the end"';
          },
        ],
        { send, write: careful },
      );
      const options = { runtime, runId: "r", rootDir: createFolder() };
      expect(await runWorkflow(workflow, options)).toMatchObject({ status: "waiting-approval" });
      const { store } = await hostOf(runtime);
      await store.transaction(() => cancelRun("r", undefined, clock.now()), "normal");
      await clock.advance(8 * DAY);
      expect(await runtime.gc()).toMatchObject({ clearedRuns: 1, deletedRuns: 0 });
      expect(await responses()).toEqual([]);
      expect(await counts()).toMatchObject({ calls: 2 });
      expect(await runWorkflow(workflow, { ...options, resume: true })).toMatchObject({ status: "finished" });
      expect(sent).toHaveLength(1);
      const [task] = await rowsOf(address, "SELECT attempt, status FROM toolwright_tasks");
      expect(task).toEqual({ attempt: 2, status: "finished" });
      expect(asked.at(-1)).toContain("send");
    });
  });

  describe("leftovers", () => {
    test("cache entries are deleted when they have expired, owners when they are dead", async () => {
      const look = defineTool({
        name: "look",
        schema: z.object({ at: z.string() }),
        cache: { scope: "global", ttlMs: 1_000 },
        execute: async ({ at }) => at,
      });
      await runtime.call(look, { at: "x" }, { runId: "r" });
      await open().ready();
      await endAllOwners(address);
      await clock.advance(2_000);
      const gone = await open().gc({ olderThanMs: 0 });
      expect(gone).toMatchObject({ expiredCacheEntries: 1 });
      expect(gone.pastOwners).toBeGreaterThanOrEqual(2);
      expect(await rowsOf(address, "SELECT 1 AS one FROM toolwright_cache")).toEqual([]);
      expect(await rowsOf(address, "SELECT 1 AS one FROM toolwright_owners")).toHaveLength(1);
    });

    test.each([
      [{ olderThanMs: -1 }, /olderThanMs must be a number of milliseconds from 0/],
      [{ replayOlderThanMs: "7d" as never }, /replayOlderThanMs must be a number/],
      [{ days: 3 } as never, /days/],
    ])("%o is refused", async (options, message) => {
      await expect(runtime.gc(options)).rejects.toMatchObject({
        code: "TOOL_OPTION_INVALID",
        message: expect.stringMatching(message) as string,
      });
    });
  });

  /** The content of all tables, as one text. */
  async function wholeStore(): Promise<string> {
    const found = await Promise.all(TABLES.map((table) => rowsOf(address, `SELECT * FROM ${table}`)));
    return JSON.stringify(found);
  }
});
