/** Rule 19: an approver edits the requested arguments. */
import { defineTool, type Outcome } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createWorld, never, until } from "./harness.ts";
import { createBlindCharge, createCharge } from "./tools.ts";

const task = { runId: "r1" };
const args = { amount: 7 };

function idOf(outcome: Outcome): string {
  if (outcome.status !== "pending") throw new Error(`expected a pending call, got ${outcome.status}`);
  return outcome.approval.id;
}

it("rule 19: the approved arguments run; the call keeps the identity of the request", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge({ needsApproval: true });
  const runtime = await world.runtime();
  const id = idOf(await runtime.call(charge, args, task));
  await runtime.resolveToolApproval(id, { approved: true, approvedArgs: { amount: 5 } });
  for (let times = 0; times < 2; times += 1) {
    expect(await (await world.runtime()).call(charge, args, task)).toMatchObject({ output: { id: "ch_1" } });
  }
  expect(effects.map(({ amount }) => amount)).toEqual([5]);
  expect(await world.log("r1")).toMatchObject([{ input_json: '{"amount":5}', status: "success" }]);
});

it("rule 19: invalid edited arguments are refused immediately, and the request stays open", async () => {
  const world = await createWorld();
  const { charge } = createCharge({ needsApproval: true });
  const runtime = await world.runtime();
  const id = idOf(await runtime.call(charge, args, task));
  await expect(
    runtime.resolveToolApproval(id, { approved: true, approvedArgs: { amount: "all of it" } }),
  ).rejects.toMatchObject({ code: "TOOL_INPUT_INVALID", message: expect.stringContaining("amount") });
  expect(await runtime.approvals({ status: "pending" })).toMatchObject([{ id }]);
});

it("rule 19: valid edited arguments are accepted, though the request's JSON Schema cannot express every check", async () => {
  const world = await createWorld();
  const seen: unknown[] = [];
  const execute = (args: unknown) => seen.push(args);
  const tools = [
    defineTool({
      name: "flagged",
      schema: z.object({ code: z.string().regex(/^[a-z]+$/i) }),
      needsApproval: true,
      execute,
    }),
    // A schema that Zod cannot import, as MCP servers have them.
    defineTool({
      name: "foreign",
      schema: z.object({ code: z.string() }).meta({ dependentRequired: { a: ["b"] } }),
      needsApproval: true,
      execute,
    }),
  ];
  const runtime = await world.runtime();
  for (const tool of tools) {
    const id = idOf(await runtime.call(tool, { code: "abc" }, { ...task, callKey: tool.name }));
    await runtime.resolveToolApproval(id, { approved: true, approvedArgs: { code: "ABC" } });
    await runtime.call(tool, { code: "abc" }, { ...task, callKey: tool.name });
  }
  expect(seen).toEqual([{ code: "ABC" }, { code: "ABC" }]);
});

it("rule 19: invalid edited arguments that only the tool can check are refused before anything runs", async () => {
  const world = await createWorld();
  let runs = 0;
  const tool = defineTool({
    name: "even_only",
    schema: z.object({ amount: z.number().refine((amount) => amount % 2 === 0, "must be even") }),
    needsApproval: true,
    execute: () => (runs += 1),
  });
  const runtime = await world.runtime();
  const id = idOf(await runtime.call(tool, { amount: 2 }, task));
  await runtime.resolveToolApproval(id, { approved: true, approvedArgs: { amount: 3 } });
  const outcome = await (await world.runtime()).call(tool, { amount: 2 }, task);
  expect(outcome).toMatchObject({ status: "error", error: { code: "TOOL_INPUT_INVALID" } });
  expect(runs).toBe(0);
});

it("rule 19: a redaction mark in the edited arguments means the original value", async () => {
  const world = await createWorld();
  const sent: unknown[] = [];
  const tool = defineTool({
    name: "pay",
    schema: z.object({ amount: z.number(), card: z.object({ number: z.string(), holder: z.string() }) }),
    redact: { input: ["card.number"] },
    needsApproval: true,
    execute: (given) => (sent.push(given), "ok"),
  });
  const input = { amount: 7, card: { number: "4111-1111", holder: "Ann" } };
  const runtime = await world.runtime();
  const outcome = await runtime.call(tool, input, task);
  const id = idOf(outcome);
  const shown = (await runtime.approvals())[0]?.args as typeof input;
  expect(shown.card.number).toMatch(/^\[redacted sha256:[\w-]{43}\]$/);
  await runtime.resolveToolApproval(id, {
    approved: true,
    approvedArgs: { amount: 5, card: { ...shown.card, holder: "Ben" } },
  });
  expect(await (await world.runtime()).call(tool, input, task)).toMatchObject({ status: "success" });
  expect(sent).toEqual([{ amount: 5, card: { number: "4111-1111", holder: "Ben" } }]);
  expect(await world.dump()).not.toContain("4111-1111");
});

it("rule 19: a later attempt matches the requested arguments and the approved ones", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge({ needsApproval: true });
  const runtime = await world.runtime();
  const id = idOf(await runtime.call(charge, args, task));
  await runtime.resolveToolApproval(id, { approved: true, approvedArgs: { amount: 5 } });
  await (await world.runtime()).call(charge, args, task);
  const later = await world.runtime();
  const requested = await later.call(charge, args, { ...task, attempt: 2 });
  const approved = await later.call(charge, { amount: 5 }, { ...task, attempt: 3 });
  expect(requested).toMatchObject({ status: "success", output: { id: "ch_1" }, replayed: true });
  expect(approved).toMatchObject({ status: "success", output: { id: "ch_1" }, replayed: true });
  expect(effects).toHaveLength(1);
});

it("rule 19: the business key is derived from the approved arguments", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge({
    needsApproval: ({ amount }) => amount > 5,
    idempotencyKey: ({ amount }) => `order-${amount}`,
  });
  const runtime = await world.runtime();
  const id = idOf(await runtime.call(charge, args, task));
  await runtime.resolveToolApproval(id, { approved: true, approvedArgs: { amount: 5 } });
  await (await world.runtime()).call(charge, args, task);
  // The same order, requested directly elsewhere: it is placed, with the arguments that ran.
  const elsewhere = await runtime.call(charge, { amount: 5 }, { runId: "r2" });
  expect(elsewhere).toMatchObject({ status: "success", output: { id: "ch_1" }, replayed: true });
  expect(effects.map(({ amount }) => amount)).toEqual([5]);
});

it("rule 20: a rerun after an interruption uses the approved arguments, and needs no second approval", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge({ needsApproval: true }, (count) =>
    count < 3 ? never() : undefined,
  );
  const runtime = await world.runtime();
  const id = idOf(await runtime.call(charge, args, task));
  await runtime.resolveToolApproval(id, { approved: true, approvedArgs: { amount: 5 } });
  for (const attempt of [1, 2]) {
    void (await world.runtime()).call(charge, args, { ...task, attempt }).catch(() => undefined);
    await until(() => effects.length === attempt);
    await world.killAll();
  }
  const outcome = await (await world.runtime()).call(charge, args, { ...task, attempt: 3 });
  expect(outcome).toMatchObject({ status: "success", output: { id: "ch_3" } });
  expect(effects.map(({ amount }) => amount)).toEqual([5, 5, 5]);
  expect(new Set(effects.map(({ key }) => key)).size).toBe(1);
});

it("rule 20: run-again for an interrupted call uses the approved arguments", async () => {
  const world = await createWorld();
  const { charge, effects } = createBlindCharge({ needsApproval: true }, (count) =>
    count === 1 ? never() : undefined,
  );
  const runtime = await world.runtime();
  const id = idOf(await runtime.call(charge, args, task));
  await runtime.resolveToolApproval(id, { approved: true, approvedArgs: { amount: 5 } });
  void (await world.runtime()).call(charge, args, task).catch(() => undefined);
  await until(() => effects.length === 1);
  await world.killAll();
  const asking = await world.runtime();
  const replay = await asking.call(charge, args, task);
  expect(replay).toMatchObject({ status: "pending", approval: { kind: "replay" } });
  await asking.resolveToolApproval(idOf(replay), { resolution: "run-again" });
  expect(await (await world.runtime()).call(charge, args, task)).toMatchObject({ status: "success" });
  expect(effects).toEqual([5, 5]);
});

it("rule 19: the result shows the edited arguments, on replays and in later attempts too", async () => {
  const world = await createWorld();
  const { charge } = createBlindCharge({ needsApproval: true });
  const runtime = await world.runtime();
  const id = idOf(await runtime.call(charge, args, task));
  await runtime.resolveToolApproval(id, { approved: true, approvedArgs: { amount: 5 } });
  const note = expect.stringMatching(/edited the arguments.*\{"amount":5\}/) as string;
  for (const options of [{}, {}, { attempt: 2 }]) {
    const outcome = await (await world.runtime()).call(charge, args, { ...task, ...options });
    expect(outcome).toMatchObject({ status: "success", note });
  }
});

it.each([{ resolution: "happened", output: { id: "ch_9" } }, { resolution: "run-again" }] as const)(
  "rule 19: the result of an interrupted call after %j shows them too, and so does its replay",
  async (decision) => {
    const world = await createWorld();
    const { charge, effects } = createBlindCharge({ needsApproval: true }, (count) =>
      count === 1 ? never() : undefined,
    );
    const runtime = await world.runtime();
    const id = idOf(await runtime.call(charge, args, task));
    await runtime.resolveToolApproval(id, { approved: true, approvedArgs: { amount: 5 } });
    void (await world.runtime()).call(charge, args, task).catch(() => undefined);
    await until(() => effects.length === 1);
    await world.killAll();
    const asking = await world.runtime();
    await asking.resolveToolApproval(idOf(await asking.call(charge, args, task)), decision);
    const note = expect.stringMatching(/^((?!edited).)*edited the arguments.*\{"amount":5\}((?!edited).)*$/);
    for (let times = 0; times < 2; times += 1) {
      const outcome = await (await world.runtime()).call(charge, args, task);
      expect(outcome).toMatchObject({ status: "success", note });
    }
  },
);

it("rule 19: a call that was edited into one that is done under the same business key says both", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge({
    idempotencyKey: ({ amount }) => String(amount),
    needsApproval: ({ amount }) => amount === 7,
  });
  const runtime = await world.runtime();
  await runtime.call(charge, { amount: 5 }, { runId: "earlier" });
  const id = idOf(await runtime.call(charge, args, task));
  await runtime.resolveToolApproval(id, { approved: true, approvedArgs: { amount: 5 } });
  const note = expect.stringMatching(/edited the arguments.*\{"amount":5\}.*already done under the same/);
  for (let times = 0; times < 2; times += 1) {
    const outcome = await (await world.runtime()).call(charge, args, task);
    expect(outcome).toMatchObject({ status: "success", replayed: true, note });
  }
  expect(effects).toHaveLength(1);
});

it("rule 11: the note about the business key of a call that waited is the same on a replay", async () => {
  const world = await createWorld();
  const { charge } = createCharge({
    idempotencyKey: ({ amount }) => String(amount),
    needsApproval: (_args, ctx) => ctx.runId === "r1",
  });
  const runtime = await world.runtime();
  const id = idOf(await runtime.call(charge, args, task));
  await runtime.call(charge, args, { runId: "other" });
  await runtime.resolveToolApproval(id, { approved: true });
  const note = expect.stringContaining("already done under the same business key") as string;
  for (let times = 0; times < 2; times += 1) {
    expect(await (await world.runtime()).call(charge, args, task)).toMatchObject({ replayed: true, note });
  }
});

it("rule 19: an error of a call with edited arguments says so in its hint", async () => {
  const world = await createWorld();
  const { charge } = createBlindCharge({ needsApproval: true }, () => {
    throw new Error("card declined");
  });
  const runtime = await world.runtime();
  const id = idOf(await runtime.call(charge, args, task));
  await runtime.resolveToolApproval(id, { approved: true, approvedArgs: { amount: 5 } });
  const outcome = await (await world.runtime()).call(charge, args, task);
  expect(outcome.status === "error" && outcome.error.toModel()).toMatchObject({
    message: "card declined",
    next_action_hint: expect.stringMatching(/edited the arguments.*\{"amount":5\}/),
  });
});

it("rule 19: arguments that were approved unchanged have no note", async () => {
  const world = await createWorld();
  const { charge } = createBlindCharge({ needsApproval: true });
  const runtime = await world.runtime();
  const id = idOf(await runtime.call(charge, args, task));
  await runtime.resolveToolApproval(id, { approved: true, approvedArgs: args });
  expect(await (await world.runtime()).call(charge, args, task)).not.toHaveProperty("note");
});

it("rule 31: the note about edited arguments holds no secret", async () => {
  const world = await createWorld();
  const pay = defineTool({
    name: "pay",
    schema: z.object({ card: z.string(), amount: z.number() }),
    redact: { input: ["card"] },
    needsApproval: true,
    execute: ({ amount }) => amount,
  });
  const runtime = await world.runtime();
  const sent = { card: "4711-0815", amount: 7 };
  const pending = await runtime.call(pay, sent, task);
  const shown = pending.status === "pending" ? (pending.approval.args as typeof sent) : sent;
  await runtime.resolveToolApproval(idOf(pending), { approved: true, approvedArgs: { ...shown, amount: 5 } });
  const outcome = await (await world.runtime()).call(pay, sent, task);
  expect(outcome).toMatchObject({ output: 5, note: expect.stringContaining('"amount":5') });
  expect(JSON.stringify(outcome)).not.toContain("4711-0815");
});
