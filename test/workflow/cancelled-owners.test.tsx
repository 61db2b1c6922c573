/** @jsxImportSource toolwright */
/**
 * Rule 26: a run is cancelled while its owner counts as dead, but the owner was only suspended. When it wakes up, it makes no
 * further call and the run stays cancelled.
 */
import { createWorkflows, defineTool, runWorkflow, type Runtime, type Store } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { cancelAnyRun } from "../../src/operate/steer-run.ts";
import { createWorld, type World } from "../semantics/harness.ts";

const { Workflow, Task, Saga, Approval, workflow, outputs } = createWorkflows({
  ok: z.object({ approved: z.boolean() }).loose(),
});

/** Its process is suspended long enough to count as dead, and an operator cancels the run. */
async function suspendAndCancel(world: World): Promise<void> {
  await world.killAll();
  const { outcome } = await cancelAnyRun(await world.open(), "r");
  expect(outcome).toBe("cancelled");
}

/** Suspends its process in the call for `suspendIn`. */
function createCharge(world: World, suspendIn: string) {
  const effects: string[] = [];
  const act = async (effect: string): Promise<void> => {
    effects.push(effect);
    if (effect === suspendIn) await suspendAndCancel(world);
  };
  const charge = defineTool({
    name: "charge",
    schema: z.object({ item: z.string() }),
    sideEffect: true,
    acceptsIdempotencyKey: false,
    execute: ({ item }) => act(item),
    revert: ({ item }) => act(`refund ${item}`),
  });
  return { charge, effects };
}

const statusOf = async (runtime: Runtime): Promise<string> => (await runtime.describeRun("r")).status;

it("rule 26: a suspended workflow that was cancelled makes no further call", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge(world, "fig");
  const order = workflow(() => (
    <Workflow name="order">
      <Task id="buy">
        {async () => {
          await charge.execute({ item: "fig" });
          await charge.execute({ item: "pear" });
        }}
      </Task>
    </Workflow>
  ));
  const work = runWorkflow(order, { runtime: await world.runtime(), runId: "r", input: {} });
  await expect(work).rejects.toMatchObject({ code: "TOOL_RUN_FENCED" });
  expect(effects).toEqual(["fig"]);
  expect(await statusOf(await world.runtime())).toBe("cancelled");
});

it("rule 26: a suspended program that was cancelled makes no further call and does not finish the run", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge(world, "fig");
  const runtime = await world.runtime();
  const work = runtime.run({ runId: "r" }, async () => {
    await charge.execute({ item: "fig" });
    await charge.execute({ item: "pear" });
  });
  await expect(work).rejects.toMatchObject({ code: "TOOL_RUN_FENCED" });
  expect(effects).toEqual(["fig"]);
  expect(await statusOf(await world.runtime())).toBe("cancelled");
});

it("rule 26: a suspended saga whose run was cancelled reverts nothing more", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge(world, "refund pear");
  const trip = workflow(() => (
    <Workflow name="trip">
      <Saga id="trip">
        <Task id="buy" retries={0}>
          {async () => {
            await charge.execute({ item: "fig" });
            await charge.execute({ item: "pear" });
            throw new Error("the shop has closed");
          }}
        </Task>
      </Saga>
    </Workflow>
  ));
  const work = runWorkflow(trip, { runtime: await world.runtime(), runId: "r", input: {} });
  await expect(work).rejects.toMatchObject({ code: "TOOL_RUN_FENCED" });
  expect(effects).toEqual(["fig", "pear", "refund pear"]);
  expect(await statusOf(await world.runtime())).toBe("cancelled");
});

it("rule 26: a suspended workflow that was cancelled leaves no approval request of a task", async () => {
  const world = await createWorld();
  const own = await world.open();
  let cancelling: Promise<void> | undefined;
  // Its process sleeps from the moment in which the task becomes ready.
  const store: Store = {
    ...own,
    read: (work) => own.read(work),
    close: () => own.close(),
    transaction: async (work, level) => {
      await cancelling;
      return own.transaction(work, level);
    },
  };
  const order = workflow((ctx) => {
    if (ctx.outputMaybe("ok", { nodeId: "first" }) !== undefined) cancelling ??= suspendAndCancel(world);
    return (
      <Workflow name="order">
        <Task id="first" output={outputs.ok}>
          {{ approved: true }}
        </Task>
        <Approval id="ok" output={outputs.ok} request={{ title: "Order?" }} />
      </Workflow>
    );
  });
  const runtime = await world.runtime({ store });
  const work = runWorkflow(order, { runtime, runId: "r", input: {} });
  await expect(work).rejects.toMatchObject({ code: "TOOL_RUN_FENCED" });
  expect(await (await world.runtime()).approvals()).toEqual([]);
});
