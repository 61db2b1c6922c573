/** Rule 17: a person who is asked about an interrupted call decides that it happened, that it runs again, or gives up. */
import { defineTool, type Outcome } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createWorld, never, until, type World } from "./harness.ts";
import { createBlindCharge } from "./tools.ts";

const task = { runId: "r1" };
const args = { amount: 7 };

function idOf(outcome: Outcome): string {
  if (outcome.status !== "pending") throw new Error(`expected a pending call, got ${outcome.status}`);
  return outcome.approval.id;
}

async function interruptedCharge(world: World, attempt = 1) {
  const { charge, effects } = createBlindCharge({}, (count) => (count === 1 ? never() : undefined));
  void (await world.runtime()).call(charge, args, task).catch(() => undefined);
  await until(() => effects.length === 1);
  await world.killAll();
  const runtime = await world.runtime();
  return { charge, effects, runtime, id: idOf(await runtime.call(charge, args, { ...task, attempt })) };
}

it.each([1, 2])(
  "rule 17: it happened, with this output: recorded, and not run (attempt %i)",
  async (attempt) => {
    const world = await createWorld();
    const { charge, effects, runtime, id } = await interruptedCharge(world, attempt);
    await runtime.resolveToolApproval(id, { approved: true, happened: { output: { id: "ch_seen" } } });
    for (let times = 0; times < 2; times += 1) {
      const outcome = await (await world.runtime()).call(charge, args, { ...task, attempt });
      expect(outcome).toMatchObject({ status: "success", output: { id: "ch_seen" }, replayed: true });
    }
    expect(effects).toHaveLength(1);
    expect((await world.log("r1")).at(-1)).toMatchObject({
      attempt,
      status: "success",
      output_json: '{"id":"ch_seen"}',
    });
  },
);

it.each([1, 2])("rule 17: run it again: it runs once, and once only (attempt %i)", async (attempt) => {
  const world = await createWorld();
  const { charge, effects, runtime, id } = await interruptedCharge(world, attempt);
  await runtime.resolveToolApproval(id, { approved: true });
  const runtimes = [await world.runtime(), await world.runtime()];
  const outcomes = await Promise.all(runtimes.map((one) => one.call(charge, args, { ...task, attempt })));
  expect(outcomes).toMatchObject([
    { status: "success", output: { id: "ch_2" } },
    { status: "success", output: { id: "ch_2" } },
  ]);
  expect(effects).toEqual([7, 7]);
});

it.each([1, 2])(
  "rule 17: give up: answered as denied, now and later, and not run (attempt %i)",
  async (attempt) => {
    const world = await createWorld();
    const { charge, effects, runtime, id } = await interruptedCharge(world, attempt);
    await runtime.resolveToolApproval(id, { approved: false });
    for (const later of [attempt, attempt, attempt + 1]) {
      const outcome = await (await world.runtime()).call(charge, args, { ...task, attempt: later });
      expect(outcome).toMatchObject({
        status: "denied",
        error: { code: "TOOL_APPROVAL_DENIED", message: expect.stringContaining("given up") },
      });
    }
    expect(effects).toHaveLength(1);
  },
);

it("rule 17: giving up one interrupted call does not answer the second equal call, which is a new one", async () => {
  const world = await createWorld();
  const { charge, effects, runtime, id } = await interruptedCharge(world);
  await runtime.resolveToolApproval(id, { approved: false });
  const later = await world.runtime();
  await later.call(charge, args, task);
  expect(await later.call(charge, args, task)).toMatchObject({ status: "success", output: { id: "ch_2" } });
  expect(effects).toEqual([7, 7]);
});

it("rule 17: a rerun that is interrupted again is asked about again", async () => {
  const world = await createWorld();
  const { charge, effects } = createBlindCharge({}, () => never());
  const ids: string[] = [];
  for (let times = 1; times <= 2; times += 1) {
    void (await world.runtime()).call(charge, args, task).catch(() => undefined);
    await until(() => effects.length === times);
    await world.killAll();
    const runtime = await world.runtime();
    const id = idOf(await runtime.call(charge, args, task));
    ids.push(id);
    await runtime.resolveToolApproval(id, { approved: true });
  }
  expect(new Set(ids).size).toBe(2);
});

it("rule 17: an output that does not fit the tool is refused, and is not taken for what happened", async () => {
  const world = await createWorld();
  let runs = 0;
  const order = defineTool({
    name: "order",
    schema: z.object({ amount: z.number() }),
    outputSchema: z.object({ id: z.string() }),
    sideEffect: true,
    idempotent: false,
    acceptsIdempotencyKey: false,
    execute: () => ((runs += 1), never<{ id: string }>()),
  });
  void (await world.runtime()).call(order, args, task).catch(() => undefined);
  await until(() => runs === 1);
  await world.killAll();
  const runtime = await world.runtime();
  const id = idOf(await runtime.call(order, args, task));
  const decided = await runtime
    .resolveToolApproval(id, { approved: true, happened: { output: { id: 42 } } })
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  const outcome = await (await world.runtime()).call(order, args, task);
  expect(decided ?? outcome).toMatchObject(
    decided === undefined
      ? { status: "error", error: { code: "TOOL_OUTPUT_INVALID" } }
      : { code: "TOOL_OUTPUT_INVALID" },
  );
  expect(runs).toBe(1);
});

it("rule 31: the output that a person reports is stored redacted", async () => {
  const world = await createWorld();
  let runs = 0;
  const issue = defineTool({
    name: "issue_card",
    schema: z.object({ amount: z.number() }),
    redact: { output: ["pin"] },
    sideEffect: true,
    idempotent: false,
    acceptsIdempotencyKey: false,
    execute: () => ((runs += 1), never<{ pin: string }>()),
  });
  void (await world.runtime()).call(issue, args, task).catch(() => undefined);
  await until(() => runs === 1);
  await world.killAll();
  const runtime = await world.runtime();
  const id = idOf(await runtime.call(issue, args, task));
  await runtime.resolveToolApproval(id, { approved: true, happened: { output: { pin: "pin-4711" } } });
  await (await world.runtime()).call(issue, args, task);
  expect(await world.dump()).not.toContain("pin-4711");
});
