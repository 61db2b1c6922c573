/** Messages are accurate: each says what happened, for how long, and how to fix it. */
import { createSmartAgent, defineTool, type Outcome, runAgentLoop, type ToolwrightError } from "toolwright";
import { createScriptedModel } from "toolwright/testing";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { cutResults } from "../../src/adapters/anthropic/trim-history.ts";
import { serve, openRuntime } from "../anthropic/harness.ts";
import { createStorePath } from "../workflow/harness.ts";
import { createWorld } from "./harness.ts";

function errorOf(outcome: Outcome): ToolwrightError {
  if (outcome.status !== "error") throw new Error(`it is ${outcome.status}`);
  return outcome.error;
}

const base = { name: "look", schema: z.object({}) };

describe("an output that does not match its schema", () => {
  const outputSchema = z.object({ n: z.number() });
  const execute = () => ({ n: "many" }) as never;

  it("of a pure tool claims no effect", async () => {
    const runtime = await (await createWorld()).runtime();
    const { code, hint, message } = errorOf(
      await runtime.call(defineTool({ ...base, outputSchema, execute }), {}, { runId: "r" }),
    );
    expect(code).toBe("TOOL_OUTPUT_INVALID");
    expect(`${message} ${hint}`).not.toMatch(/effect has happened|do not repeat/i);
    expect(hint).toContain("The tool has no external effect");
  });

  it("of a side effect says that it happened", async () => {
    const runtime = await (await createWorld()).runtime();
    const tool = defineTool({ ...base, outputSchema, execute, sideEffect: true, idempotent: true });
    expect(errorOf(await runtime.call(tool, {}, { runId: "r" })).hint).toContain("The effect has happened");
  });
});

describe("an open breaker", () => {
  it.each([
    [1, "failed once"],
    [2, "failed 2 times in a row"],
  ])("after %i failures says for how long", async (threshold, times) => {
    const runtime = await (await createWorld()).runtime();
    const tool = defineTool({
      ...base,
      retry: { circuitBreakerThreshold: threshold },
      execute: (): string => {
        throw new Error("down");
      },
    });
    for (let failures = 0; failures < threshold; failures += 1) await runtime.call(tool, {}, { runId: "r" });
    const { code, message, hint } = errorOf(await runtime.call(tool, {}, { runId: "r" }));
    expect(code).toBe("TOOL_CIRCUIT_OPEN");
    expect(message).toBe(
      `Tool "look" ${times}, so its circuit breaker is open for the rest of the run. Nothing was run.`,
    );
    expect(`${message} ${hint}`).not.toContain("for now");
  });

  it("that all runs share says when the next probe is allowed", async () => {
    const runtime = await (await createWorld()).runtime();
    const tool = defineTool({
      ...base,
      retry: { circuitBreakerThreshold: 1, breaker: { scope: "shared", resetMs: 5_000 } },
      execute: (): string => {
        throw new Error("down");
      },
    });
    await runtime.call(tool, {}, { runId: "one" });
    const { message, hint } = errorOf(await runtime.call(tool, {}, { runId: "other" }));
    expect(message).toContain("in all runs");
    expect(hint).toContain("5000 ms");
  });
});

it("a refused plan update is an error in the history, as it is for the model", async () => {
  const world = await createWorld();
  const steps = [{ id: "a", title: "Do it" }];
  const model = createScriptedModel([
    [{ toolName: "manage_todo_list", input: { operation: "write", todoList: steps } }],
    [{ toolName: "manage_todo_list", input: { operation: "write", todoList: steps, expectedVersion: 7 } }],
    "Done.",
  ]);
  const agent = createSmartAgent({ model, runtime: await world.runtime() });
  const { state } = await agent.invoke({ messages: [{ role: "user", content: "Go." }] });
  expect(state.toolHistory).toMatchObject([
    { toolName: "manage_todo_list", status: "success" },
    { status: "error", error: expect.stringContaining("version 1, not 7") as string },
  ]);
});

it("an error that is too long for the context stays JSON", () => {
  const message = `"quoted"\n`.repeat(5_000);
  const error = {
    is_error: true,
    error_type: "command_failed",
    message,
    next_action_hint: "h".repeat(5_000),
  };
  const [cut] = cutResults(
    [
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "a", is_error: true, content: JSON.stringify(error) }],
      },
    ],
    100_000,
  );
  const [block] = (cut?.content ?? []) as { content: string }[];
  expect(block?.content.length).toBeLessThanOrEqual(1_000);
  expect(JSON.parse(block?.content ?? "")).toMatchObject({
    is_error: true,
    error_type: "command_failed",
    message: expect.stringMatching(/^"quoted".*characters are left out here/s) as string,
  });
});

describe("a definition", () => {
  const define = (options: object) => () =>
    defineTool({ name: "look", execute: () => 1, ...options } as never);

  it.each(["parameters", "inputSchema", "input_schema"])("with %s names the option", (name) => {
    expect(define({ [name]: z.object({}) })).toThrow(`${name} is called "schema" here`);
    expect(define({ [name]: z.object({}) })).toThrow("fromTool(tool)");
  });

  it("with a Zod 3 schema says which version it takes", () => {
    const old = { _def: { typeName: "ZodObject" }, parse: () => ({}), safeParse: () => ({ success: true }) };
    expect(define({ schema: old })).toThrow(/is a Zod 3 schema.*zod@4/);
  });

  it("with bare fields says what is missing", () => {
    expect(define({ schema: { city: z.string() } })).toThrow(/Wrap its fields in z\.object/);
  });
});

describe("a recorded result", () => {
  it("that is an error is reported on stderr with the way to run it again, and stays the same error", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const world = await createWorld();
    const tool = defineTool({
      ...base,
      execute: (): string => {
        throw new Error("a bug");
      },
    });
    const call = async () =>
      errorOf(await (await world.runtime()).call(tool, {}, { runId: "r", callKey: "k" }));
    const first = await call();
    expect(warn).not.toHaveBeenCalled();
    const again = await call();
    expect([again.message, again.hint]).toEqual([first.message, first.hint]);
    expect(warn.mock.calls.flat().join("\n")).toMatch(/stored error.*another runId, or attempt: 2/);
    warn.mockRestore();
  });

  it("of a loop that has ended is reported on stderr with the way to start over", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const { client } = await serve(["Done."]);
    const runtime = openRuntime(createStorePath());
    const messages = [{ role: "user" as const, content: "Go." }];
    const loop = () => runAgentLoop({ client, model: "m", messages, tools: [], runtime, runId: "r" });
    await loop();
    expect(warn).not.toHaveBeenCalled();
    await loop();
    expect(warn.mock.calls.flat().join("\n")).toMatch(/run "r" has ended.*recorded answer.*another runId/);
    warn.mockRestore();
  });
});
