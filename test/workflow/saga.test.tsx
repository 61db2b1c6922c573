/** @jsxImportSource toolwright */
/** `<Saga>`: a failure inside reverts what finished inside, then the run fails with the original error. */
import {
  createWorkflows,
  defineTool,
  runWorkflow,
  type RuntimeEvent,
  type ToolPolicies,
  type WorkflowDefinition,
} from "toolwright";
import { recordRun, replayRun } from "toolwright/testing";
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
  // Another revert undoes the rest, and nothing twice.
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
  // What the fork would copy is about to be untrue.
  await expect(runtime.fork({ runId: "r1" })).rejects.toMatchObject({
    code: "TOOL_FORK_INVALID",
    message: expect.stringContaining("are being reverted"),
  });
  const waiting = await runWorkflow(trip, { runtime, runId: "r1", resume: true });
  // The revert in doubt needs an answer. Meanwhile the older one is done.
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

/** A task that books itself, and then fails on request. */
function bookingTask(book: ReturnType<typeof createBooking>["book"], id: string, onBooked?: () => unknown) {
  return (
    <Task id={id} retries={0}>
      {async () => {
        await book.execute({ what: id });
        await onBooked?.();
      }}
    </Task>
  );
}

const cancelled = (ledger: readonly string[]): string[] => ledger.filter((line) => line.startsWith("cancel"));

it("reverts every saga that a failure is in, whichever task failed first", async () => {
  const world = await createWorld();
  const { book, ledger } = createBooking();
  const runtime = await world.runtime();
  const both = Promise.withResolvers<void>();
  let booked = 0;
  const failTogether = async (): Promise<void> => {
    booked += 1;
    if (booked === 3) both.resolve();
    await both.promise;
    fail();
  };
  const beside = workflow(() => (
    <Workflow name="beside">
      <Parallel>
        <Task id="outside" retries={0}>
          {failTogether}
        </Task>
        <Saga>{bookingTask(book, "one", failTogether)}</Saga>
        <Saga>{bookingTask(book, "two", failTogether)}</Saga>
      </Parallel>
    </Workflow>
  )) as WorkflowDefinition;
  const { status, error } = await runWorkflow(beside, { runtime, runId: "r1" });
  expect([status, error?.details]).toMatchObject(["failed", { saga: { reverted: 2 } }]);
  expect(cancelled(ledger).toSorted()).toEqual(["cancel one", "cancel two"]);
});

it("a loop inside that reaches its limit is a failure", async () => {
  const world = await createWorld();
  const { book, ledger } = createBooking();
  const runtime = await world.runtime();
  const polling = workflow(() => (
    <Workflow name="polling">
      {bookingTask(book, "before")}
      <Saga>
        {bookingTask(book, "first")}
        <Loop until={false} maxIterations={2} onMaxReached="fail">
          {bookingTask(book, "poll")}
        </Loop>
      </Saga>
    </Workflow>
  )) as WorkflowDefinition;
  const { status, error } = await runWorkflow(polling, { runtime, runId: "r1" });
  expect([status, error?.message]).toEqual(["failed", expect.stringContaining("its limit of 2 iterations")]);
  expect(cancelled(ledger)).toEqual(["cancel poll", "cancel poll", "cancel first"]);
});

it("a failed saga is recorded and replayed without its reverts, which happen outside the code", async () => {
  const world = await createWorld();
  const { book, ledger } = createBooking();
  const runtime = await world.runtime({ recording: "keep" });
  await runWorkflow(createTrip(book, fail), { runtime, runId: "r1" });
  const fixture = await recordRun(runtime, "r1");
  ledger.length = 0;
  const { diff, status } = await replayRun(fixture, { workflow: createTrip(book, fail) });
  expect([diff, status, ledger]).toEqual([[], "failed", []]);
});

it("a fork of a failed saga repeats what was reverted, and keeps what was not", async () => {
  const world = await createWorld();
  const { book, ledger } = createBooking();
  const runtime = await world.runtime();
  await runWorkflow(createTrip(book, fail), { runtime, runId: "r1" });
  ledger.length = 0;
  const fixed = createTrip(book, () => undefined);
  const fork = await runtime.fork({ runId: "r1" });
  expect(fork).toMatchObject({ copied: { tasks: 1, calls: 1 }, reverted: [] });
  expect(await runWorkflow(fixed, { runtime, runId: fork.runId, resume: true })).toMatchObject({
    status: "finished",
  });
  expect(ledger).toEqual(["book hotel", "book flight", "book insurance", "book taxi"]);
  // With a later task named, the result lists it.
  const later = await runtime.fork({ runId: "r1", at: "pay", dryRun: true });
  expect(later.reverted).toEqual(["hotel", "flight"]);
});

/** A finished task is left out of the tree, as in `{hotel === undefined && <Task …/>}`. */
function createChangingTrip(book: ReturnType<typeof createBooking>["book"], onPay: () => unknown) {
  return workflow((ctx) => {
    const isDone = (nodeId: string): boolean => ctx.outputMaybe(outputs.step, { nodeId }) !== undefined;
    const step = (id: string) => (
      <Task id={id} output={outputs.step}>
        {async () => {
          await book.execute({ what: id });
          return { n: 1 };
        }}
      </Task>
    );
    return (
      <Workflow name="trip">
        {!isDone("visa") && <Saga>{step("visa")}</Saga>}
        <Saga>
          {!isDone("hotel") && step("hotel")}
          <Task id="pay" retries={0}>
            {async () => void (await onPay())}
          </Task>
        </Saga>
      </Workflow>
    );
  });
}

it("reverts what a task did that the tree no longer has, and nothing of another saga", async () => {
  const world = await createWorld();
  const { book, ledger } = createBooking();
  const runtime = await world.runtime();
  const result = await runWorkflow(createChangingTrip(book, fail), { runtime, runId: "r1" });
  expect(result.error).toMatchObject({ details: { saga: { reverted: 1 } } });
  expect(ledger).toEqual(["book visa", "book hotel", "cancel hotel"]);
});

it("reverts it in another process too, which never rendered the task", async () => {
  const world = await createWorld();
  const { book, ledger } = createBooking();
  let isPaying = false;
  const dying = createChangingTrip(book, () => ((isPaying = true), never()));
  void runWorkflow(dying, { runtime: await world.runtime(), runId: "r1" }).catch(() => undefined);
  await until(() => isPaying);
  await world.killAll();
  const runtime = await world.runtime();
  const options = { runtime, runId: "r1", resume: true, acceptChanges: true };
  const result = await runWorkflow(createChangingTrip(book, fail), options);
  expect(result.error).toMatchObject({ details: { saga: { reverted: 1 } } });
  expect(ledger).toEqual(["book visa", "book hotel", "cancel hotel"]);
});
