/** Rule 11 for errors: a tool's own error reaches the caller, the log, the model and every replay. */
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { defineTool, ERROR_CODES, type Outcome, ToolwrightError } from "toolwright";
import { expect, test } from "vitest";
import { z } from "zod";
import { createWorld, type World } from "./harness.ts";

const task = { runId: "r1", callKey: "only" };

function thrower(thrown: unknown, redact?: { readonly input: readonly string[] }) {
  return defineTool({
    name: "shop",
    schema: z.object({ card: z.string().default("none") }),
    sideEffect: true,
    idempotent: true,
    ...(redact === undefined ? {} : { redact }),
    execute(): string {
      throw thrown;
    },
  });
}

function errorOf(outcome: Outcome): ToolwrightError {
  if (outcome.status !== "error") throw new Error(`it is ${outcome.status}`);
  return outcome.error;
}

/** The fields that a caller can read. */
function fieldsOf({ code, message, hint, details, retryable, effect }: ToolwrightError) {
  return { code, message, hint, details, retryable, effect };
}

/** The call live, and replayed by another process. */
async function twice(world: World, tool: ReturnType<typeof thrower>, args: { card?: string } = {}) {
  const live = await (await world.runtime()).call(tool, args, task);
  const replayed = await (await world.runtime()).call(tool, args, task);
  expect(replayed).toMatchObject({ replayed: true });
  return { live: errorOf(live), replayed: errorOf(replayed) };
}

test("rule 11: an error with a custom code comes back as that error", async () => {
  const world = await createWorld();
  const closed = new ToolwrightError("SHOP_CLOSED", "The shop is closed.", {
    hint: "Come back at nine.",
    retryable: true,
    effect: "none",
    details: { opens: new Date(0), stock: new Map([["apple", 3n]]), gone: undefined },
  });
  const { live, replayed } = await twice(world, thrower(closed));
  expect(fieldsOf(live)).toEqual({
    code: "SHOP_CLOSED",
    message: "The shop is closed.",
    hint: "Come back at nine.",
    retryable: true,
    effect: "none",
    details: { opens: new Date(0), stock: new Map([["apple", 3n]]) },
  });
  expect(fieldsOf(replayed)).toEqual(fieldsOf(live));
  expect(live.toModel()).toMatchObject({ error_type: "shop_closed", next_action_hint: "Come back at nine." });
});

test("a custom code needs no hint", () => {
  expect(new ToolwrightError("SHOP_CLOSED", "closed").hint).toBe(ERROR_CODES.TOOL_EXECUTION_FAILED.hint);
});

test("the fields of a service's error are logged, replayed and shown to the model", async () => {
  const world = await createWorld();
  const thrown = Object.assign(new TypeError("declined"), {
    code: "card_declined",
    status: 402,
    error_type: "payment_refused",
    hint: "Ask for another card.",
    retryable: true,
  });
  const { live, replayed } = await twice(world, thrower(thrown));
  expect(fieldsOf(live)).toMatchObject({
    code: "TOOL_EXECUTION_FAILED",
    hint: "Ask for another card.",
    retryable: true,
    details: { tool: "shop", name: "TypeError", code: "card_declined", status: 402 },
  });
  expect(live.cause).toBe(thrown);
  expect(fieldsOf(replayed)).toEqual(fieldsOf(live));
  expect(replayed.toModel()).toEqual({
    is_error: true,
    error_type: "payment_refused",
    message: "declined",
    next_action_hint: "Ask for another card.",
    code: "card_declined",
    status: 402,
  });
  const [row] = await world.log("r1");
  expect(JSON.parse(String(row?.["error_json"]))).toMatchObject({ details: { code: "card_declined" } });
});

test("fields that are too long are truncated, and fields of another type are omitted", async () => {
  const world = await createWorld();
  const thrown = Object.assign(new Error("x"), {
    code: "c".repeat(1_000),
    status: { nested: true },
    hint: "h".repeat(10_000),
  });
  const { live } = await twice(world, thrower(thrown));
  expect(String(live.details["code"])).toHaveLength(200);
  expect(live.hint).toHaveLength(2_000);
  expect(live.toModel()).not.toHaveProperty("status");
});

test("a redacted argument is hidden in every field", async () => {
  const world = await createWorld();
  const thrown = Object.assign(new Error("no 4242-4242"), {
    code: "card_4242-4242",
    error_type: "bad 4242-4242",
    hint: "Not 4242-4242.",
  });
  const { live, replayed } = await twice(world, thrower(thrown, { input: ["card"] }), { card: "4242-4242" });
  expect(JSON.stringify([fieldsOf(live), live.toModel(), fieldsOf(replayed)])).not.toContain("4242-4242");
  expect(await world.dump()).not.toContain("4242-4242");
});

test("every code that the package itself uses is in the table", () => {
  const source = resolve(import.meta.dirname, "../../src");
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.tsx?$/.test(name),
  );
  const used = files.flatMap((name) =>
    [...readFileSync(join(source, name), "utf8").matchAll(/"((?:TOOL|WORKFLOW)_[A-Z_]+)"/g)].map(
      ([, code]) => code,
    ),
  );
  expect(used.filter((code) => !Object.hasOwn(ERROR_CODES, code ?? ""))).toEqual([]);
});
