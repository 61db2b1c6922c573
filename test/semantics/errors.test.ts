/** Errors have one shape for every reader and every thrown value. */
import { defineTool, ERROR_CODES, type ErrorCode, ToolwrightError } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createWorld } from "./harness.ts";

const task = { runId: "r1" };

function handsOff(): never {
  throw new Error("hands off");
}

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

async function outcomeOf(thrown: unknown) {
  const world = await createWorld();
  const tool = defineTool({
    name: "thrower",
    schema: z.object({}),
    execute(): string {
      throw thrown;
    },
  });
  const outcome = await (await world.runtime()).call(tool, {}, task);
  if (outcome.status !== "error") throw new Error(`it is ${outcome.status}`);
  const [row] = await world.log("r1");
  return { error: outcome.error, row, detached: await tool.execute({}).catch((error: unknown) => error) };
}

describe("every thrown value", () => {
  const circular: Record<string, unknown> = { name: "loop" };
  circular["self"] = circular;
  it.each<[string, unknown, RegExp]>([
    ["an Error", new Error("disk is full"), /^disk is full$/],
    ["an Error without a message", new RangeError(""), /^RangeError$/],
    ["a text", "just a text", /^just a text$/],
    ["a number", 404, /^404$/],
    ["undefined", undefined, /^undefined$/],
    ["null", null, /^null$/],
    ["a plain object", { status: 500, reason: "down" }, /status.*500.*down/],
    ["an object with a message", { message: "from far away" }, /^from far away$/],
    ["a list", [1, 2], /^\[1,2\]$/],
    ["a symbol", Symbol("odd"), /odd/],
    ["a big number", 12n, /12|bigint/],
    ["a circular object", circular, /./],
    [
      "an Error whose message is an object",
      Object.assign(new Error("x"), { message: { code: 7, why: "quota" } }),
      /quota/,
    ],
  ])("%s becomes one shape, live, logged and outside any run", async (_what, thrown, message) => {
    const { error, row, detached } = await outcomeOf(thrown);
    expect(ToolwrightError.is(error)).toBe(true);
    expect(error.code).toBe("TOOL_EXECUTION_FAILED");
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain("[object");
    expect(error.toModel()).toEqual({
      is_error: true,
      error_type: "execution_failed",
      message: error.message,
      next_action_hint: ERROR_CODES.TOOL_EXECUTION_FAILED.hint,
    });
    expect(row).toMatchObject({ status: "error" });
    expect(JSON.parse(String(row?.["error_json"]))).toMatchObject({
      code: "TOOL_EXECUTION_FAILED",
      message: error.message,
    });
    expect(detached).toMatchObject({ code: "TOOL_EXECUTION_FAILED", message: error.message });
  });

  it.each([
    ["a proxy whose traps throw", () => new Proxy({}, { has: handsOff, get: handsOff })],
    ["a revoked proxy", revokedProxy],
  ])("a value that throws when it is read ends the call, not the run: %s", async (_name, hostile) => {
    const { error } = await outcomeOf(hostile());
    expect(error.code).toBe("TOOL_EXECUTION_FAILED");
  });

  it("a value that throws when it is read ends the call in the other functions of a tool too", async () => {
    const world = await createWorld();
    const fail = (): never => {
      throw revokedProxy();
    };
    const runtime = await world.runtime();
    for (const policies of [{ idempotencyKey: fail }, { cache: { keyFn: fail } }, { needsApproval: fail }]) {
      const isSideEffect = !("cache" in policies);
      const tool = defineTool({
        name: "odd",
        schema: z.object({}),
        sideEffect: isSideEffect,
        ...policies,
        execute: () => 1,
      });
      const { status } = await runtime.call(tool, {}, { runId: Object.keys(policies).join() });
      expect(status).toBe("needsApproval" in policies ? "pending" : "error");
    }
  });

  it("a ToolwrightError is kept as it is", async () => {
    const thrown = new ToolwrightError("TOOL_COMMAND_FAILED", "exit code 2", {
      details: { exitCode: 2, output: "no such file" },
      hint: "look at the output",
    });
    const { error, row } = await outcomeOf(thrown);
    expect(error).toMatchObject({ code: "TOOL_COMMAND_FAILED", details: { exitCode: 2 } });
    expect(error.toModel()).toEqual({
      is_error: true,
      error_type: "command_failed",
      message: "exit code 2",
      next_action_hint: "look at the output",
    });
    expect(JSON.parse(String(row?.["error_json"]))).toMatchObject({ details: { output: "no such file" } });
  });

  it("the cause is kept for the program, and no stack is stored", async () => {
    const thrown = new Error("disk is full");
    const { error, row } = await outcomeOf(thrown);
    expect(error.cause).toBe(thrown);
    expect(String(row?.["error_json"])).not.toContain("errors.test.ts");
  });
});

describe("the table of codes", () => {
  it.each(Object.keys(ERROR_CODES) as ErrorCode[])(
    "%s has an error_type without TOOL_, and a hint",
    (code) => {
      const model = new ToolwrightError(code, "m").toModel();
      expect(model.error_type).toBe(code.replace(/^TOOL_/, "").toLowerCase());
      expect(model.next_action_hint).toMatch(/\.$/);
    },
  );
});

describe("bad input", () => {
  const tool = defineTool({
    name: "search",
    schema: z.object({
      query: z.string().min(1),
      limit: z.int().max(50).default(10),
      filters: z.array(z.object({ field: z.enum(["name", "date"]) })).optional(),
    }),
    execute: () => "never",
  });

  it("gets an error with every path and expectation, is logged, and runs nothing", async () => {
    const world = await createWorld();
    const outcome = await (
      await world.runtime()
    ).call(tool, { query: 5, limit: 99, filters: [{ field: "name" }, { field: "size" }] } as never, task);
    if (outcome.status !== "error") throw new Error(outcome.status);
    const { error } = outcome;
    expect(error.code).toBe("TOOL_INPUT_INVALID");
    expect(error.message).toContain('Tool "search" cannot take this input');
    expect(error.message).toMatch(/query: .*expected string.*received number/);
    expect(error.message).toMatch(/limit: .*50/);
    expect(error.message).toMatch(/filters\.1\.field: .*"name"\|"date"/);
    expect(error.details).toMatchObject({
      tool: "search",
      issues: [{ path: "query" }, { path: "limit" }, { path: "filters.1.field" }],
    });
    expect(error.toModel()).toMatchObject({ is_error: true, error_type: "input_invalid" });
    expect(await world.log("r1")).toMatchObject([{ status: "error", effect: "none", tries: 0 }]);
  });

  it.each<[string, unknown]>([
    ["undefined", undefined],
    ["null", null],
    ["a text", "query"],
    ["a list", []],
  ])("that is %s gets an error too", async (_what, args) => {
    const world = await createWorld();
    const outcome = await (await world.runtime()).call(tool, args as never, task);
    expect(outcome).toMatchObject({
      status: "error",
      error: { code: "TOOL_INPUT_INVALID", message: expect.stringContaining("expected object") },
    });
  });

  it.each<[string, unknown]>([
    ["a function", { query: "a", extra: () => 1 }],
    [
      "a circular reference",
      (() => {
        const loop: Record<string, unknown> = { query: "a" };
        loop["loop"] = loop;
        return loop;
      })(),
    ],
    ["a symbol", { query: Symbol("a") }],
  ])("that holds %s is refused with a message, and affects no other call", async (_what, args) => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const outcome = await runtime.call(tool, args as never, task);
    expect(outcome).toMatchObject({ status: "error", error: { code: "TOOL_INPUT_INVALID" } });
    expect(await runtime.call(tool, { query: "a" }, task)).toMatchObject({ output: "never" });
  });

  it("asynchronous refinements run once and are awaited; a refinement that throws is bad input and does not end the run", async () => {
    const world = await createWorld();
    const asked: string[] = [];
    const slow = defineTool({
      name: "slow",
      schema: z.object({
        id: z.string().refine(async (id) => {
          asked.push(id);
          if (id === "boom") throw new Error("lookup failed");
          return id !== "taken";
        }, "is taken"),
      }),
      execute: ({ id }) => id,
    });
    const runtime = await world.runtime();
    expect(await runtime.call(slow, { id: "free" }, task)).toMatchObject({ output: "free" });
    expect(await runtime.call(slow, { id: "taken" }, task)).toMatchObject({
      error: { code: "TOOL_INPUT_INVALID", message: expect.stringContaining("id: is taken") },
    });
    expect(await runtime.call(slow, { id: "boom" }, task)).toMatchObject({
      error: { code: "TOOL_INPUT_INVALID", message: expect.stringContaining("lookup failed") },
    });
    expect(await runtime.call(slow, { id: "after" }, task)).toMatchObject({ output: "after" });
    expect(asked).toEqual(["free", "taken", "boom", "after"]);
  });
});

it("if a loop takes text only, the text of the thrown error holds the full shape", async () => {
  const tool = defineTool({
    name: "thrower",
    schema: z.object({}),
    execute(): string {
      throw new Error("no luck");
    },
  });
  const error: unknown = await tool
    .execute({}, { toolCallId: "t1", messages: [] })
    .catch((thrown: unknown) => thrown);
  if (!ToolwrightError.is(error)) throw new Error("not ours");
  expect(JSON.parse(error.message)).toEqual({
    is_error: true,
    error_type: "execution_failed",
    message: "no luck",
    next_action_hint: ERROR_CODES.TOOL_EXECUTION_FAILED.hint,
  });
});
