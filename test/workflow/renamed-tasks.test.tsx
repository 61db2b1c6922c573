/** A task that is renamed while its run is stopped is a new task: the resume warns about the calls of the old one. */
import { createRuntime, createSmithers, defineTool, runWorkflow } from "toolwright";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { explainWorkflow } from "../../src/operate/explain-workflow.ts";
import { openStore } from "../../src/store/open-store.ts";
import { readRun } from "../../src/store/tables/workflow-runs.ts";
import { createStorePath } from "./harness.ts";

function createShop() {
  const paid: string[] = [];
  const pay = defineTool({
    name: "pay",
    schema: z.object({ to: z.string() }),
    sideEffect: true,
    execute: ({ to }, ctx) => {
      void ctx.idempotencyKey;
      paid.push(to);
      return to;
    },
  });
  const { Workflow, Task, smithers, outputs } = createSmithers({ paid: z.string(), done: z.string() });
  /** @param id of the task that pays */
  const workflow = (id: string, isBroken: boolean) =>
    smithers(() => (
      <Workflow name="payments">
        <Task id={id} output={outputs.paid}>
          {() => pay.execute({ to: "ann" })}
        </Task>
        <Task id="last" output={outputs.done} retries={0}>
          {() => {
            if (isBroken) throw new Error("out of order");
            return "done";
          }}
        </Task>
      </Workflow>
    ));
  return { paid, workflow };
}

async function why(store: string, runId: string): Promise<string> {
  const opened = await openStore(store);
  try {
    const run = await opened.read(() => readRun(runId));
    if (run === undefined) throw new Error("there is no such run");
    return (await explainWorkflow(opened, run)).because.join("\n");
  } finally {
    await opened.close();
  }
}

test("a renamed task is named with its calls: in an event, on stderr and by why", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  onTestFinished(() => warn.mockRestore());
  const store = createStorePath();
  const { paid, workflow } = createShop();
  await using runtime = createRuntime({ store });
  const options = { runtime, runId: "r" };
  expect((await runWorkflow(workflow("pay-ann", true), options)).status).toBe("failed");
  expect(await why(store, "r")).not.toContain("no longer contains");

  const events: unknown[] = [];
  const before: number[] = [];
  const resumed = await runWorkflow(workflow("pay-anna", false), {
    ...options,
    resume: true,
    acceptChanges: true,
    onProgress: (event) => {
      if (event.type === "tasks-missing") before.push(paid.length);
      events.push(event);
    },
  });
  expect(resumed.status).toBe("finished");
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "tasks-missing",
      calls: [{ nodeId: "pay-ann", toolName: "pay", status: "success", key: expect.any(String) }],
    }),
  );
  // The warning comes before the renamed task has paid again.
  expect(before).toEqual([1]);
  expect(warn.mock.calls.flat().join("\n")).toMatch(/run "r".*"pay-ann" \(pay: success\)/);
  expect(await why(store, "r")).toMatch(/"pay-ann" \(pay: success\)/);
});

test("nothing is reported if every task with calls still exists", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  onTestFinished(() => warn.mockRestore());
  const store = createStorePath();
  const { paid, workflow } = createShop();
  await using runtime = createRuntime({ store });
  const options = { runtime, runId: "r" };
  await runWorkflow(workflow("pay-ann", true), options);
  const events: string[] = [];
  await runWorkflow(workflow("pay-ann", false), {
    ...options,
    resume: true,
    acceptChanges: true,
    onProgress: ({ type }) => events.push(type),
  });
  expect(events).not.toContain("tasks-missing");
  expect(warn).not.toHaveBeenCalled();
  expect(paid).toEqual(["ann"]);
  expect(await why(store, "r")).not.toContain("no longer contains");
});
