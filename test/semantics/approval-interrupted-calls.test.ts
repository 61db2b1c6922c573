/** Rule 17: the approver of an interrupted call chooses happened, run-again or give-up. */
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
  "rule 17: happened, with an output: the output is recorded, and nothing runs (attempt %i)",
  async (attempt) => {
    const world = await createWorld();
    const { charge, effects, runtime, id } = await interruptedCharge(world, attempt);
    await runtime.resolveToolApproval(id, { resolution: "happened", output: { id: "ch_seen" } });
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

it.each([1, 2])("rule 17: run-again: it runs exactly once (attempt %i)", async (attempt) => {
  const world = await createWorld();
  const { charge, effects, runtime, id } = await interruptedCharge(world, attempt);
  await runtime.resolveToolApproval(id, { resolution: "run-again" });
  const runtimes = [await world.runtime(), await world.runtime()];
  const outcomes = await Promise.all(runtimes.map((one) => one.call(charge, args, { ...task, attempt })));
  expect(outcomes).toMatchObject([
    { status: "success", output: { id: "ch_2" } },
    { status: "success", output: { id: "ch_2" } },
  ]);
  expect(effects).toEqual([7, 7]);
});

it.each([1, 2])(
  "rule 17: give-up: the call is denied, now and later, and does not run (attempt %i)",
  async (attempt) => {
    const world = await createWorld();
    const { charge, effects, runtime, id } = await interruptedCharge(world, attempt);
    await runtime.resolveToolApproval(id, { resolution: "give-up" });
    for (const later of [attempt, attempt, attempt + 1]) {
      const outcome = await (await world.runtime()).call(charge, args, { ...task, attempt: later });
      expect(outcome).toMatchObject({
        status: "denied",
        error: {
          code: "TOOL_APPROVAL_DENIED",
          message: expect.stringMatching(/given up.*may have happened/),
        },
      });
    }
    expect(effects).toHaveLength(1);
  },
);

it("rule 17: give-up for one interrupted call does not settle the second equal call, which is a new one", async () => {
  const world = await createWorld();
  const { charge, effects, runtime, id } = await interruptedCharge(world);
  await runtime.resolveToolApproval(id, { resolution: "give-up" });
  const later = await world.runtime();
  await later.call(charge, args, task);
  expect(await later.call(charge, args, task)).toMatchObject({ status: "success", output: { id: "ch_2" } });
  expect(effects).toEqual([7, 7]);
});

it("rule 17: a rerun that is interrupted again needs a new decision", async () => {
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
    await runtime.resolveToolApproval(id, { resolution: "run-again" });
  }
  expect(new Set(ids).size).toBe(2);
});

it("rule 17: an output that does not match the schema is refused, and is not recorded as the result", async () => {
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
  const decided = await runtime.resolveToolApproval(id, { resolution: "happened", output: { id: 42 } }).then(
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

it("rule 31: the output that an approver reports is stored redacted", async () => {
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
  await runtime.resolveToolApproval(id, { resolution: "happened", output: { pin: "pin-4711" } });
  await (await world.runtime()).call(issue, args, task);
  expect(await world.dump()).not.toContain("pin-4711");
});

it.each([{ approved: true }, { approved: false }])(
  "rule 17: a bare yes or no (%j) is refused with the three choices, and the request stays open",
  async (decision) => {
    const world = await createWorld();
    const { runtime, id, effects } = await interruptedCharge(world);
    await expect(runtime.resolveToolApproval(id, decision)).rejects.toMatchObject({
      code: "TOOL_OPTION_INVALID",
      message: expect.stringMatching(/"happened".*"run-again".*"give-up"/),
      details: { approvalId: id, resolutions: ["happened", "run-again", "give-up"] },
    });
    expect(await runtime.approvals({ status: "pending" })).toMatchObject([{ id, kind: "replay" }]);
    expect(effects).toHaveLength(1);
  },
);

it.each<[string, object]>([
  ["an unknown answer", { resolution: "yes" }],
  ["no answer", { comment: "hm" }],
  ["two answers", { resolution: "run-again", approved: true }],
  ["an output with run-again", { resolution: "run-again", output: 1 }],
  ["an output with give-up", { resolution: "give-up", output: 1 }],
  ["edited arguments", { resolution: "run-again", approvedArgs: { amount: 1 } }],
  ["happened and no", { approved: false, happened: { output: 1 } }],
])("rule 17: %s is refused by name", async (_name, decision) => {
  const world = await createWorld();
  const { runtime, id } = await interruptedCharge(world);
  await expect(runtime.resolveToolApproval(id, decision)).rejects.toMatchObject({
    code: "TOOL_OPTION_INVALID",
  });
  expect(await runtime.approvals({ status: "pending" })).toHaveLength(1);
});

it.each(["happened", "run-again", "give-up"] as const)(
  "rule 17: %s is refused for a request that is not about an interrupted call",
  async (resolution) => {
    const world = await createWorld();
    const { charge, effects } = createBlindCharge({ needsApproval: true });
    const runtime = await world.runtime();
    const id = idOf(await runtime.call(charge, args, task));
    await expect(runtime.resolveToolApproval(id, { resolution })).rejects.toMatchObject({
      code: "TOOL_OPTION_INVALID",
      message: expect.stringContaining("not about an interrupted call"),
    });
    expect(await runtime.approvals({ status: "pending" })).toHaveLength(1);
    expect(effects).toEqual([]);
  },
);

it("rule 17: the older form, approved with an output, still records it", async () => {
  const world = await createWorld();
  const { charge, effects, runtime, id } = await interruptedCharge(world);
  const settled = await runtime.resolveToolApproval(id, {
    approved: true,
    happened: { output: { id: "old" } },
  });
  expect(settled).toMatchObject({ status: "approved", resolution: "happened" });
  expect(await (await world.runtime()).call(charge, args, task)).toMatchObject({ output: { id: "old" } });
  expect(effects).toHaveLength(1);
});

it.each([
  ["happened", "approved"],
  ["run-again", "approved"],
  ["give-up", "denied"],
] as const)("rule 17: the request and its event say that the decision was %s", async (resolution, status) => {
  const world = await createWorld();
  const { runtime, id } = await interruptedCharge(world);
  const events: unknown[] = [];
  runtime.subscribe((event) => events.push(event));
  expect(await runtime.resolveToolApproval(id, { resolution })).toMatchObject({ resolution, status });
  expect(await runtime.approvals()).toMatchObject([{ id, resolution }]);
  expect(events).toMatchObject([{ type: "approval-settled", approvalId: id, resolution }]);
});

it("rule 17: the row of the call names the request while it waits and after each decision", async () => {
  for (const resolution of ["happened", "run-again", "give-up"] as const) {
    const world = await createWorld();
    const { charge, runtime, id } = await interruptedCharge(world);
    expect(await runtime.calls(task)).toMatchObject([{ status: "pending", approvalId: id }]);
    await runtime.resolveToolApproval(id, { resolution });
    const later = await world.runtime();
    await later.call(charge, args, task);
    expect(await later.calls(task)).toMatchObject([{ approvalId: id }]);
  }
});

it("rule 17: a rerun of a tool without a key does not claim to have used one", async () => {
  const world = await createWorld();
  const { charge, runtime, id } = await interruptedCharge(world);
  await runtime.resolveToolApproval(id, { resolution: "run-again" });
  const outcome = await (await world.runtime()).call(charge, args, task);
  expect(outcome).toMatchObject({
    status: "success",
    note: expect.stringMatching(/was interrupted.*The approver decided to run it again.*twice/),
  });
  expect(JSON.stringify(outcome)).not.toContain("idempotency key");
});

/** A hanging call of a tool with the given output schema. */
async function interruptedWith(world: World, outputSchema: z.ZodType | undefined) {
  let runs = 0;
  const tool = defineTool({
    name: "act",
    schema: z.object({ amount: z.number() }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    sideEffect: true,
    idempotent: false,
    acceptsIdempotencyKey: false,
    execute: () => ((runs += 1), never()),
  });
  void (await world.runtime()).call(tool, args, task).catch(() => undefined);
  await until(() => runs === 1);
  await world.killAll();
  const runtime = await world.runtime();
  const id = idOf(await runtime.call(tool, args, task));
  return { tool, runtime, id };
}

it.each<[string, z.ZodType | undefined]>([
  ["no schema", undefined],
  ["an optional output", z.string().optional()],
  ["no output at all", z.void()],
])("rule 17: happened needs no output if the tool has %s", async (_name, outputSchema) => {
  const world = await createWorld();
  const { tool, runtime, id } = await interruptedWith(world, outputSchema);
  expect(await runtime.approvals()).toMatchObject([{ id, outputSchema: undefined }]);
  await runtime.resolveToolApproval(id, { resolution: "happened" });
  expect(await (await world.runtime()).call(tool, args, task)).toMatchObject({
    status: "success",
    output: undefined,
    replayed: true,
  });
});

it("rule 17: happened without the output that the tool promises is refused with what is expected", async () => {
  const world = await createWorld();
  const { runtime, id } = await interruptedWith(world, z.object({ orderId: z.string() }));
  await expect(runtime.resolveToolApproval(id, { resolution: "happened" })).rejects.toMatchObject({
    code: "TOOL_OUTPUT_INVALID",
    message: expect.stringContaining('"orderId"'),
  });
  expect(await runtime.approvals({ status: "pending" })).toMatchObject([
    { id, outputSchema: { required: ["orderId"] } },
  ]);
});

it("rule 17: the request shows the error of a call that failed", async () => {
  const world = await createWorld();
  const { charge } = createBlindCharge({}, () => {
    throw new Error("socket closed");
  });
  const runtime = await world.runtime();
  await runtime.call(charge, args, task);
  expect(await runtime.call(charge, args, { ...task, attempt: 2 })).toMatchObject({
    status: "pending",
    approval: { prompt: expect.stringMatching(/failed \(socket closed\).*its effect is in doubt/) },
  });
});

it("rule 5: a decision about a business key applies to every run that uses it", async () => {
  const world = await createWorld();
  const { charge, effects } = createBlindCharge({ idempotencyKey: () => "order-17" }, (count) =>
    count === 1 ? never() : undefined,
  );
  void (await world.runtime()).call(charge, args, task).catch(() => undefined);
  await until(() => effects.length === 1);
  await world.killAll();
  const runtime = await world.runtime();
  const id = idOf(await runtime.call(charge, args, { runId: "r2" }));
  await runtime.resolveToolApproval(id, { resolution: "happened", output: { id: "seen" } });
  for (const runId of ["r2", "r3"]) {
    const outcome = await (await world.runtime()).call(charge, args, { runId });
    expect(outcome).toMatchObject({ status: "success", output: { id: "seen" } });
  }
  expect(effects).toHaveLength(1);
});
