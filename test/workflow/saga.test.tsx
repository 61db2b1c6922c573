/** @jsxImportSource toolwright */
/** `<Saga>`: a failure inside takes back what finished inside, then the run fails with the original error. */
import {
  createWorkflows,
  defineTool,
  runWorkflow,
  type RuntimeEvent,
  type ToolPolicies,
  type WorkflowDefinition,
} from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createWorld, never, until } from "../semantics/harness.ts";

type Policies = ToolPolicies<{ what: string }, string, object>;

/** Books and cancels. Both are counted outside. */
function createBooking(policies: Policies = {}, onCancel: (count: number) => unknown = () => undefined) {
  const ledger: string[] = [];
  let cancelled = 0;
  const book = defineTool({
    name: "book",
    schema: z.object({ what: z.string() }),
    sideEffect: true,
    idempotent: false,
    acceptsIdempotencyKey: false,
    execute: async ({ what }) => {
      ledger.push(`book ${what}`);
      return what;
    },
    revert: async ({ what }) => {
      ledger.push(`cancel ${what}`);
      cancelled += 1;
      await onCancel(cancelled);
    },
    ...policies,
  });
  return { book, ledger };
}

const { Workflow, Task, Saga, Loop, Parallel, workflow, outputs } = createWorkflows({
  step: z.object({ n: z.number() }),
  output: z.object({}),
});

function createTrip(
  book: ReturnType<typeof createBooking>["book"],
  onPay: () => unknown,
): WorkflowDefinition {
  return workflow(() => (
    <Workflow name="trip">
      <Task id="before">{async () => void (await book.execute({ what: "visa" }))}</Task>
      <Saga id="trip">
        <Parallel>
          <Task id="hotel">{async () => void (await book.execute({ what: "hotel" }))}</Task>
        </Parallel>
        <Task id="flight">{async () => void (await book.execute({ what: "flight" }))}</Task>
        <Task id="pay" retries={0}>
          {async () => {
            await book.execute({ what: "insurance" });
            onPay();
          }}
        </Task>
      </Saga>
      <Task id="after">{async () => void (await book.execute({ what: "taxi" }))}</Task>
    </Workflow>
  ));
}

const fail = (): never => {
  throw new Error("the card was refused");
};

it("reverts what finished inside, the failed task's own calls included, and nothing outside", async () => {
  const world = await createWorld();
  const { book, ledger } = createBooking();
  const runtime = await world.runtime();
  const events: RuntimeEvent[] = [];
  runtime.subscribe((event) => events.push(event));
  const trip = createTrip(book, fail);
  const result = await runWorkflow(trip, { runtime, runId: "r1" });
  expect(result.status).toBe("failed");
  expect(result.error).toMatchObject({
    code: "WORKFLOW_TASK_FAILED",
    message: expect.stringContaining("the card was refused"),
    details: { task: "pay", saga: { reverted: 3, left: 0, failed: 0 } },
  });
  expect(ledger).toEqual([
    "book visa",
    "book hotel",
    "book flight",
    "book insurance",
    "cancel insurance",
    "cancel flight",
    "cancel hotel",
  ]);
  expect(events.filter(({ type }) => type === "saga-reverted")).toMatchObject([{ reverted: 3, pending: 0 }]);
  await expect(runWorkflow(trip, { runtime, runId: "r1", resume: true })).rejects.toMatchObject({
    code: "TOOL_RUN_REVERTED",
  });
  // Another revert takes back the rest, and nothing twice.
  expect((await runtime.revert({ runId: "r1" })).reverted).toHaveLength(4);
  expect(ledger.slice(7)).toEqual(["cancel visa"]);
});

it("resumes in the middle of reverting, in another process, without running a task", async () => {
  const world = await createWorld();
  const { book, ledger } = createBooking({ acceptsIdempotencyKey: false }, (count) =>
    count === 2 ? never() : undefined,
  );
  const trip = createTrip(book, fail);
  void runWorkflow(trip, { runtime: await world.runtime(), runId: "r1" }).catch(() => undefined);
  await until(() => ledger.includes("cancel flight"));
  await world.killAll();
  const runtime = await world.runtime();
  const waiting = await runWorkflow(trip, { runtime, runId: "r1", resume: true });
  // The revert in doubt is asked about. The older one is done meanwhile.
  expect(waiting.status).toBe("waiting-approval");
  expect(ledger.slice(4)).toEqual(["cancel insurance", "cancel flight", "cancel hotel"]);
  const [request] = await runtime.approvals({ status: "pending" });
  await runtime.resolveToolApproval(request?.id ?? "", { resolution: "happened" });
  const result = await runWorkflow(trip, { runtime, runId: "r1", resume: true });
  expect(result).toMatchObject({ status: "failed", error: { details: { saga: { reverted: 3 } } } });
  expect(result.error?.message).toContain("the card was refused");
  expect(ledger).toHaveLength(7);
});

it("waits for the approval of a revert, then continues", async () => {
  const world = await createWorld();
  const { book, ledger } = createBooking({ revertNeedsApproval: ({ what }) => what === "flight" });
  const trip = createTrip(book, fail);
  const runtime = await world.runtime();
  expect((await runWorkflow(trip, { runtime, runId: "r1" })).status).toBe("waiting-approval");
  const [request] = await runtime.approvals({ status: "pending" });
  expect(request).toMatchObject({ toolName: "revert:book", runId: "r1" });
  await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
  expect((await runWorkflow(trip, { runtime, runId: "r1", resume: true })).status).toBe("failed");
  expect(ledger.slice(4)).toEqual(["cancel insurance", "cancel hotel", "cancel flight"]);
});

it("reverts nothing if nothing fails, and only the pass of the loop around it that failed", async () => {
  const world = await createWorld();
  const { book, ledger } = createBooking();
  const runtime = await world.runtime();
  expect(
    await runWorkflow(
      createTrip(book, () => undefined),
      { runtime, runId: "ok" },
    ),
  ).toMatchObject({
    status: "finished",
  });
  expect(ledger.filter((line) => line.startsWith("cancel"))).toEqual([]);
  ledger.length = 0;
  const looped = workflow((ctx) => {
    const pass = ctx.outputs("step").length;
    return (
      <Workflow name="looped">
        <Loop until={pass >= 3} maxIterations={3}>
          <Saga>
            <Task id="step" output={outputs.step} retries={0}>
              {async () => {
                await book.execute({ what: `pass ${pass}` });
                if (pass === 1) fail();
                return { n: pass };
              }}
            </Task>
          </Saga>
        </Loop>
      </Workflow>
    );
  }) as WorkflowDefinition;
  expect((await runWorkflow(looped, { runtime, runId: "loop" })).status).toBe("failed");
  expect(ledger).toEqual(["book pass 0", "book pass 1", "cancel pass 1"]);
});
