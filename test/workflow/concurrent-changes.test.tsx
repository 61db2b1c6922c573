/** Concurrent starts, resumes, ends and cancels of a run: each is decided in one transaction, on both stores. */
import {
  createRuntime,
  createSmithers,
  defineTool,
  type Runtime,
  runWorkflow,
  type Store,
  type WorkflowDefinition,
} from "toolwright";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { cancelRun as cancelByCommand } from "../../src/operate/cancel-run.ts";
import { openStore } from "../../src/store/open-store.ts";
import { change } from "../../src/store/statement.ts";
import { cancelRun, readRun } from "../../src/store/tables/workflow-runs.ts";
import { openShop } from "../crash/shop.ts";
import { watchStore } from "../semantics/harness.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import { startSteered } from "./steered.ts";

let address: string;
let store: Store;

describe.each(STORE_KINDS)("on $name", (kind) => {
  beforeEach(async () => {
    const fresh = await kind.fresh();
    onTestFinished(() => fresh[Symbol.asyncDispose]());
    address = fresh.address;
    store = await open();
  });

  async function open(): Promise<Store> {
    const opened = await openStore(address);
    onTestFinished(() => opened.close());
    return opened;
  }

  function runtimeOn(given: Store): Runtime {
    const runtime = createRuntime({ store: given });
    onTestFinished(() => runtime[Symbol.asyncDispose]());
    return runtime;
  }

  /** As `toolwright cancel` does when it has seen that the owner is alive. */
  async function requestCancel(runId: string): Promise<void> {
    const ownerId = (await store.read(() => readRun(runId)))?.ownerId ?? "";
    const step = await store.transaction(
      () => cancelRun(runId, { ownerId, isAlive: true }, Date.now()),
      "normal",
    );
    expect(step.kind).toBe("requested");
  }

  function computing(work: () => unknown): WorkflowDefinition {
    const { Workflow, Task, smithers, outputs } = createSmithers({ result: z.string() });
    return smithers(() => (
      <Workflow name="w">
        <Task id="t" output={outputs.result} retries={0}>
          {async () => String(await work())}
        </Task>
      </Workflow>
    ));
  }

  /** Its first task runs `before`, then a task and a call wait for approval, then it pays. */
  function waiting(before: () => Promise<void>): { workflow: WorkflowDefinition; paid: number[] } {
    const paid: number[] = [];
    const pay = defineTool({
      name: "pay",
      schema: z.object({ amount: z.number() }),
      sideEffect: true,
      needsApproval: true,
      execute: async ({ amount }, ctx) => {
        paid.push(amount);
        return ctx.idempotencyKey;
      },
    });
    const { Workflow, Task, Parallel, smithers, outputs } = createSmithers({ result: z.string() });
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="before" output={outputs.result}>
          {async () => {
            await before();
            return "done";
          }}
        </Task>
        <Parallel>
          <Task id="pay" output={outputs.result} retries={0}>
            {async () => pay.invoke({ amount: 1 })}
          </Task>
          <Task id="held" output={outputs.result} needsApproval>
            {() => "held"}
          </Task>
        </Parallel>
      </Workflow>
    ));
    return { workflow, paid };
  }

  test("a cancel request shortly before a run starts to wait ends it as cancelled and voids its approval requests", async () => {
    const runtime = runtimeOn(await open());
    let isFirst = true;
    const { workflow, paid } = waiting(async () => {
      if (isFirst) await requestCancel("r");
      isFirst = false;
    });
    const options = { runtime, runId: "r" };
    expect(await runWorkflow(workflow, options)).toMatchObject({ status: "cancelled" });
    const asked = await runtime.approvals({ runId: "r" });
    expect(asked.filter(({ status }) => status !== "void")).toEqual([]);
    // A resume of a cancelled run continues: it requests approval again, and the new decision counts.
    expect(await runWorkflow(workflow, { ...options, resume: true })).toMatchObject({
      status: "waiting-approval",
    });
    const pending = await runtime.approvals({ runId: "r", status: "pending" });
    expect(pending.map(({ kind: asks }) => asks).toSorted()).toEqual(["call", "task"]);
    for (const { id } of pending) await runtime.resolveToolApproval(id, { approved: true });
    expect(await runWorkflow(workflow, { ...options, resume: true })).toMatchObject({ status: "finished" });
    expect(paid).toEqual([1]);
  });

  test("a run that is cancelled while it waits has no request left that could be approved", async () => {
    const runtime = runtimeOn(await open());
    const { workflow, paid } = waiting(() => Promise.resolve());
    await runWorkflow(workflow, { runtime, runId: "r" });
    const [first] = await runtime.approvals({ runId: "r", status: "pending" });
    const run = await store.read(() => readRun("r"));
    if (run === undefined || first === undefined) throw new Error("the run does not wait");
    // The status that the command read before the run started to wait.
    expect(await cancelByCommand(store, { ...run, status: "running" })).toMatchObject({
      status: "cancelled",
    });
    await expect(runtime.resolveToolApproval(first.id, { approved: true })).rejects.toMatchObject({
      code: "TOOL_APPROVAL_SETTLED",
      message: expect.stringContaining("its run was cancelled") as string,
    });
    expect(await cancelByCommand(store, run)).toMatchObject({ outcome: "cancelled", status: "cancelled" });
    expect(paid).toEqual([]);
  });

  test(
    "a cancel request outlives its owner: the next resume ends the run, the one after continues it",
    { timeout: 90_000 },
    async () => {
      await using shop = await openShop(0);
      await using killed = await startSteered("killed", address, shop.url);
      await using other = await startSteered("other", address, shop.url);
      killed.tell({ type: "run", runId: "r", resume: false });
      await killed.next("held");
      killed.child.kill("SIGSTOP");
      await requestCancel("r");
      killed.child.kill("SIGKILL");
      await killed.ended();
      expect(await other.resume("r")).toBe("cancelled");
      expect(shop.ledger.map(({ sku }) => sku)).toEqual(["r-first"]);
      const resumed = other.resume("r");
      await other.next("held");
      other.tell({ type: "release" });
      expect(await resumed).toBe("finished");
      expect(shop.ledger.map(({ sku }) => sku)).toEqual(["r-first", "r-held", "r-last"]);
    },
  );

  test('resume: "auto" of a run that another process begins meanwhile gets its result', async () => {
    let starts = 0;
    const workflow = computing(() => `started ${(starts += 1)}`);
    const first = runtimeOn(await open());
    const inner = await open();
    let isDone = false;
    const late: Store = {
      ...watchStore(inner, {}),
      async read(work) {
        const result = await inner.read(work);
        if (!isDone && result === undefined) {
          isDone = true;
          await runWorkflow(workflow, { runtime: first, runId: "r", resume: "auto" });
        }
        return result;
      },
    };
    const options = { runtime: runtimeOn(late), runId: "r", resume: "auto" as const };
    expect(await runWorkflow(workflow, options)).toMatchObject({ status: "finished", output: "started 1" });
    expect(isDone).toBe(true);
    expect(starts).toBe(1);
  });

  test('of several concurrent starts of a run with resume: "auto", one runs it, and no other fails because it exists', async () => {
    const release = Promise.withResolvers<void>();
    let starts = 0;
    const workflow = computing(async () => {
      starts += 1;
      await release.promise;
      return "done";
    });
    const runtimes = await Promise.all([1, 2, 3, 4].map(async () => runtimeOn(await open())));
    let conflicts = 0;
    const runs = runtimes.map((runtime) =>
      runWorkflow(workflow, { runtime, runId: "r", resume: "auto" }).catch((error: unknown) => {
        conflicts += 1;
        if (conflicts === runtimes.length - 1) release.resolve();
        return error;
      }),
    );
    const ends = await Promise.all(runs);
    expect(ends.filter((end) => !(end instanceof Error))).toMatchObject([{ status: "finished" }]);
    for (const end of ends.filter((one) => one instanceof Error))
      expect(end).toMatchObject({
        code: "TOOL_RUN_CONFLICT",
        message: expect.stringContaining("is running in another process") as string,
      });
    expect(starts).toBe(1);
  });

  test("the result of a run is how it ended, even when another process resumes it immediately", async () => {
    const inner = await open();
    const taken: Store = {
      ...watchStore(inner, {}),
      async transaction(work, level) {
        let isEnd = false;
        const result = await inner.transaction(function* () {
          const steps = work();
          let step = steps.next();
          while (step.done !== true) {
            isEnd ||= step.value.sql.includes("UPDATE toolwright_workflow_runs SET status");
            step = steps.next(yield step.value);
          }
          return step.value;
        }, level);
        const takeOver = () =>
          change(
            "UPDATE toolwright_workflow_runs SET epoch = epoch + 1, status = 'running', owner_id = 'other'",
          );
        if (isEnd) await store.transaction(takeOver, "normal");
        return result;
      },
    };
    const workflow = computing(() => {
      throw new Error("no luck");
    });
    expect(await runWorkflow(workflow, { runtime: runtimeOn(taken), runId: "r" })).toMatchObject({
      status: "failed",
      error: { code: "WORKFLOW_TASK_FAILED" },
    });
  });
});
