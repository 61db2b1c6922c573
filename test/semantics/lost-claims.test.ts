/**
 * Rule 10: a claim whose commit reported an error may have been committed. Its process lives on and works on nothing, so it
 * gives the claim back as soon as the store answers: otherwise no other process could ever continue.
 */
import { createWorkflows, type Runtime, runWorkflow, ToolwrightError } from "toolwright";
import { expect, test } from "vitest";
import { z } from "zod";
import { RunRelease } from "../../src/invoke/run-release.ts";
import { jsx } from "../../src/jsx-runtime.ts";
import { hostOf } from "../../src/runtime/create-runtime.ts";
import { runProgram } from "../../src/worker/claim-program.ts";
import { createWorld, until, watchStore, type World } from "./harness.ts";

const failure = (): ToolwrightError => new ToolwrightError("TOOL_STORE_FAILED", "the answer was lost");

/** `unanswered`: it is committed, and reports an error. `refused`: it is not. `last`: it works, and after it nothing. */
type Fate = "unanswered" | "refused" | "last";

/** A runtime whose first claim has this fate. `isAway` ends the last one. `isFull`: the store can be read only. */
async function createUnluckyRuntime(world: World, isClaim: (sql: string) => boolean, fate: Fate) {
  const state = { isOver: false, isAway: false, isFull: false };
  const meet = (): void => {
    state.isOver = true;
    if (fate === "last") state.isAway = true;
    else throw failure();
  };
  const store = watchStore(await world.open(), {
    onStatement(sql) {
      if (state.isAway || state.isFull) throw failure();
      if (fate === "refused" && !state.isOver && isClaim(sql)) meet();
    },
    onCommit(statements) {
      if (fate !== "refused" && !state.isOver && statements.some(isClaim)) meet();
    },
    onRead() {
      if (state.isAway) throw failure();
    },
  });
  return Object.assign(state, { runtime: await world.runtime({ store }) });
}

const workflows = createWorkflows({ input: z.object({}), done: z.object({ by: z.string() }) });
const workflow = workflows.workflow(() =>
  jsx(workflows.Workflow, {
    name: "one-task",
    children: jsx(workflows.Task, {
      id: "a",
      output: workflows.outputs.done,
      children: () => ({ by: "task" }),
    }),
  }),
);

async function runAsWorker(runtime: Runtime): Promise<string> {
  const host = await hostOf(runtime);
  const options = { host, runtime, runId: "r1", release: new RunRelease(), onClaimed: () => undefined };
  return runProgram({ ...options, program: () => "done" });
}

const KINDS = [
  {
    what: "a task",
    isClaim: (sql: string) => sql.startsWith("UPDATE toolwright_scopes SET owner_id = ?2"),
    prepare: async () => undefined,
    run: (runtime: Runtime): Promise<string> => runtime.run({ runId: "r1" }, () => "done"),
    expected: "done",
  },
  {
    what: "a new workflow",
    isClaim: (sql: string) => sql.startsWith("INSERT INTO toolwright_workflow_runs"),
    prepare: async () => undefined,
    run: async (runtime: Runtime): Promise<string> =>
      (await runWorkflow(workflow, { runtime, runId: "r1", resume: "auto", input: {} })).status,
    expected: "finished",
  },
  {
    what: "a program of a worker",
    isClaim: (sql: string) => sql.startsWith("UPDATE toolwright_runs SET claim_epoch"),
    prepare: (runtime: Runtime) => runtime.enqueue("p", { runId: "r1", kind: "program" }),
    run: runAsWorker,
    expected: "ended",
  },
] as const;

/** Until it is released, the other process has a conflict, or nothing to take. */
function untilEnded(work: () => Promise<string>, expected: string): Promise<void> {
  return until(() =>
    work().then(
      (end) => end === expected,
      (error: unknown) => {
        if (ToolwrightError.is(error) && error.code === "TOOL_RUN_CONFLICT") return false;
        throw error;
      },
    ),
  );
}

for (const { what, isClaim, prepare, run, expected } of KINDS) {
  test(`another process continues with ${what} after the answer to its claim was lost`, async () => {
    const world = await createWorld();
    const other = await world.runtime();
    await prepare(other);
    const { runtime } = await createUnluckyRuntime(world, isClaim, "unanswered");
    await expect(run(runtime)).rejects.toMatchObject({ code: "TOOL_STORE_FAILED" });
    await untilEnded(() => run(other), expected);
  });

  test(`another process continues with ${what} after a second claim failed on a full disk`, async () => {
    const world = await createWorld();
    const other = await world.runtime();
    await prepare(other);
    const unlucky = await createUnluckyRuntime(world, isClaim, "unanswered");
    await expect(run(unlucky.runtime)).rejects.toMatchObject({ code: "TOOL_STORE_FAILED" });
    unlucky.isFull = true;
    await expect(run(unlucky.runtime)).rejects.toMatchObject({ code: "TOOL_STORE_FAILED" });
    unlucky.isFull = false;
    await untilEnded(() => run(other), expected);
  });

  test(`the process itself continues with ${what} after its claim has failed, and keeps it`, async () => {
    const world = await createWorld();
    const { runtime } = await createUnluckyRuntime(world, isClaim, "refused");
    await prepare(runtime);
    await expect(run(runtime)).rejects.toMatchObject({ code: "TOOL_STORE_FAILED" });
    const { failedWrites } = await hostOf(runtime);
    expect(failedWrites.isEmpty).toBe(false);
    expect(await run(runtime)).toBe(expected);
    expect(failedWrites.isEmpty).toBe(true);
  });
}

test("another process continues with a workflow whose process lost the store right after the claim", async () => {
  const world = await createWorld();
  const other = await world.runtime();
  const [, { isClaim, run, expected }] = KINDS;
  const unlucky = await createUnluckyRuntime(world, isClaim, "last");
  await expect(run(unlucky.runtime)).rejects.toMatchObject({ code: "TOOL_STORE_FAILED" });
  unlucky.isAway = false;
  await untilEnded(() => run(other), expected);
});

test("another process resumes a workflow whose end, and then whose resume, failed on a full disk", async () => {
  const world = await createWorld();
  const other = await world.runtime();
  const [, { run, expected }] = KINDS;
  const unlucky = await createUnluckyRuntime(world, isRunEnd, "refused");
  await expect(run(unlucky.runtime)).rejects.toMatchObject({ code: "TOOL_STORE_FAILED" });
  unlucky.isFull = true;
  await expect(run(unlucky.runtime)).rejects.toMatchObject({ code: "TOOL_STORE_FAILED" });
  unlucky.isFull = false;
  await untilEnded(() => run(other), expected);
});

function isRunEnd(sql: string): boolean {
  return sql.startsWith("UPDATE toolwright_workflow_runs SET status");
}
