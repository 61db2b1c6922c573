/** Rule 31: secrets in inputs that are not plain objects, and in requests. */
import { defineTool } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createWorld } from "./harness.ts";

const task = { runId: "r1" };

class Card {
  readonly number: string;
  readonly holder: string;
  constructor(number: string, holder: string) {
    this.number = number;
    this.holder = holder;
  }
}

it.each<[string, unknown, string[]]>([
  ["in an instance of a class", new Card("4111-1111", "Ann"), ["card.number"]],
  [
    "in an object without a prototype",
    Object.assign(Object.create(null), { number: "4111-1111" }),
    ["card.number"],
  ],
  ["in a map", new Map([["number", "4111-1111"]]), ["card.number"]],
  ["in each item of a list", [{ number: "4111-1111" }, { number: "4111-1111" }], ["card.*.number"]],
  ["in each item of an unexpected list", [{ number: "4111-1111" }], ["card.number"]],
  ["that is an instance itself", new Card("4111-1111", "Ann"), ["card"]],
  ["in a value with its own toJSON", { toJSON: () => ({ number: "4111-1111" }) }, ["card.number"]],
])("rule 31: a secret %s is not stored, requested or emitted in plain text", async (_where, card, input) => {
  const world = await createWorld();
  const seen: unknown[] = [];
  const pay = defineTool({
    name: "pay",
    schema: z.object({ card: z.unknown() }),
    redact: { input },
    needsApproval: true,
    approvalPrompt: (args) => `Pay with ${JSON.stringify(args)}?`,
    execute: (args) => void seen.push(args.card),
  });
  const runtime = await world.runtime();
  const events: unknown[] = [];
  runtime.subscribe((event) => events.push(event));
  const pending = await runtime.call(pay, { card }, { ...task, callKey: "k" });
  if (pending.status !== "pending") throw new Error(pending.status);
  await runtime.resolveToolApproval(pending.approval.id, { approved: true });
  expect(await runtime.call(pay, { card }, { ...task, callKey: "k" })).toMatchObject({ status: "success" });
  expect(seen).toEqual([card]);
  for (const text of [await world.dump(), JSON.stringify(pending), JSON.stringify(events)]) {
    expect(text).not.toContain("4111-1111");
  }
});

it("rule 31: a failed validation does not reveal the arguments", async () => {
  const world = await createWorld();
  const tool = defineTool({
    name: "login",
    schema: z.object({
      password: z.string().refine(() => false, { error: (issue) => `${String(issue.input)} is too weak` }),
    }),
    redact: { input: ["password"] },
    execute: () => 1,
  });
  const outcome = await (await world.runtime()).call(tool, { password: "hunter2" }, task);
  expect(outcome).toMatchObject({ status: "error", error: { code: "TOOL_INPUT_INVALID" } });
  if (outcome.status !== "error") throw new Error(outcome.status);
  expect(JSON.stringify([outcome.error, outcome.error.message, outcome.error.details])).not.toContain(
    "hunter2",
  );
  expect(await world.dump()).not.toContain("hunter2");
  const detached: unknown = await tool.execute({ password: "hunter2" }).catch((error: unknown) => error);
  expect(String(detached)).not.toContain("hunter2");
});
