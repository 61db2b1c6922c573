/** The Effect of `toolwright/effect` is the same run as the Promise of the root. */
import { Effect, Fiber } from "effect";
import { createSmithers, runWorkflow as runAsPromise, Task } from "toolwright";
import { runWorkflow } from "toolwright/effect";
import { expect, test } from "vitest";
import { z } from "zod";
import { createStorePath, rowsOf, until } from "./harness.ts";

function createWorkflow(dbPath: string, work: () => Promise<{ text: string }>) {
  const { Workflow, smithers, outputs } = createSmithers(
    { input: z.object({ file: z.string() }), result: z.object({ text: z.string() }) },
    { dbPath },
  );
  return smithers(() => (
    <Workflow name="refactor">
      <Task id="refactor" output={outputs.result} retries={0}>
        {work}
      </Task>
    </Workflow>
  ));
}

test("the sample of the guide: it succeeds with the result", async () => {
  const workflow = createWorkflow(createStorePath(), async () => ({ text: "done" }));
  const result = await Effect.runPromise(
    runWorkflow(workflow, {
      input: { file: "src/auth.ts" },
      allowNetwork: false,
      maxOutputBytes: 500_000,
      toolTimeoutMs: 120_000,
    }),
  );
  expect(result).toMatchObject({ status: "finished", output: { text: "done" } });
});

test("nothing runs before the Effect does, and each execution is a separate run", async () => {
  const path = createStorePath();
  let count = 0;
  const workflow = createWorkflow(path, async () => ({ text: `${(count += 1)}` }));
  const effect = runWorkflow(workflow, { input: { file: "a" } });
  expect(count).toBe(0);
  const first = await Effect.runPromise(effect);
  const second = await Effect.runPromise(effect);
  expect([count, first.runId === second.runId]).toEqual([2, false]);
});

test("a run that cannot start is a failure that can be caught by its code", async () => {
  const workflow = createWorkflow(createStorePath(), async () => ({ text: "" }));
  const code = runWorkflow(workflow, { input: { file: 7 } }).pipe(
    Effect.match({ onFailure: (error) => error.code, onSuccess: () => "none" }),
  );
  expect(await Effect.runPromise(code)).toBe("WORKFLOW_INPUT_INVALID");
});

test("a run whose task fails succeeds with that, as the Promise does", async () => {
  const workflow = createWorkflow(createStorePath(), () => Promise.reject(new Error("no paper")));
  const result = await Effect.runPromise(runWorkflow(workflow, { input: { file: "a" } }));
  expect(result).toMatchObject({ status: "failed", error: { code: "WORKFLOW_TASK_FAILED" } });
});

test("an interrupted fiber leaves a run that is stored as cancelled and can be resumed", async () => {
  const path = createStorePath();
  let starts = 0;
  const workflow = createWorkflow(path, async () => {
    starts += 1;
    return starts === 1 ? new Promise(() => undefined) : { text: "done" };
  });
  const options = { input: { file: "a" }, runId: "run-1" };
  const fiber = Effect.runFork(runWorkflow(workflow, options));
  await until(() => starts === 1);
  await Effect.runPromise(Fiber.interrupt(fiber));
  expect(await rowsOf(path, "SELECT status FROM toolwright_workflow_runs")).toEqual([
    { status: "cancelled" },
  ]);
  const result = await runAsPromise(workflow, { ...options, resume: true });
  expect(result).toMatchObject({ status: "finished", output: { text: "done" } });
});
