/** The output and exit code of a command, for every outcome of a call. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createRuntime, defineTool, ToolwrightError } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { EXIT_CODES, exitCodeOfSignal } from "../../src/adapters/commander/exit-codes.ts";
import { run } from "./program.ts";

function returning(output: unknown) {
  return defineTool({ name: "t", schema: z.object({}), execute: () => output });
}

function throwing(error: Error) {
  return defineTool({
    name: "t",
    schema: z.object({}),
    execute: () => {
      throw error;
    },
  });
}

describe("a result", () => {
  it.each([
    ["text as it is", "two\nlines", "two\nlines\n", "two\nlines"],
    ["nothing", undefined, "", null],
    ["a number", 42, "42\n", 42],
    ["a list of texts", ["a", "b"], "- a\n- b\n", ["a", "b"]],
    ["an empty list", [], "(none)\n", []],
    [
      "uniform rows as a table",
      [
        { id: "a", count: 1 },
        { id: "long", count: null },
      ],
      "ID    COUNT\na     1\nlong  -\n",
      [
        { id: "a", count: 1 },
        { id: "long", count: null },
      ],
    ],
    [
      "an object by field, with nested values",
      { name: "x", inner: { on: true, lines: "1\n2" }, items: [{ a: [1] }] },
      "name: x\ninner:\n  on: true\n  lines:\n    1\n    2\nitems:\n  - a:\n      - 1\n",
      { name: "x", inner: { on: true, lines: "1\n2" }, items: [{ a: [1] }] },
    ],
    [
      "what JSON lacks",
      {
        at: new Date(0),
        ids: new Set([1]),
        by: new Map([["k", 2n]]),
        bytes: new Uint8Array([1]),
        left: undefined,
      },
      "at:    1970-01-01T00:00:00.000Z\nbytes: AQ==\nids:\n  - 1\nby:\n  k: 2\n"
        .split("\n")
        .sort()
        .join("\n"),
      { at: "1970-01-01T00:00:00.000Z", ids: [1], by: { k: "2" }, bytes: "AQ==" },
    ],
  ])("%s", async (what, output, text, json) => {
    const shown = await run([returning(output)], ["t"]);
    const sorted = what === "what JSON lacks" ? shown.stdout.split("\n").sort().join("\n") : shown.stdout;
    expect({ code: shown.code, text: sorted, stderr: shown.stderr }).toEqual({ code: 0, text, stderr: "" });
    const forPrograms = await run([returning(output)], ["t", "--json"]);
    expect(forPrograms.json()).toEqual(json);
  });

  it("in the error shape exits with 1 and is printed on stderr", async () => {
    const error = {
      is_error: true,
      error_type: "path_conflict",
      message: "It is there.",
      next_action_hint: "Use another.",
    };
    expect(await run([returning(error)], ["t"])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: "error: It is there.\n  Use another.\n",
    });
    const forPrograms = await run([returning(error)], ["t", "--json"]);
    expect(forPrograms).toMatchObject({ code: 1 });
    expect(forPrograms.json()).toEqual(error);
    expect(await run([returning({ is_error: true, why: "x" })], ["t"])).toMatchObject({
      code: 1,
      stderr: "is_error: true\nwhy:      x\n",
    });
    expect(await run([returning({ is_error: false })], ["t"])).toMatchObject({ code: 0 });
  });

  it("is the only thing on stdout with --json, even if the tool prints", async () => {
    const chatty = defineTool({
      name: "t",
      schema: z.object({}),
      execute: () => {
        process.stdout.write("chatter\n");
        return 1;
      },
    });
    expect(await run([chatty], ["t", "--json"])).toMatchObject({ stdout: "1\n" });
  });
});

describe("exit codes", () => {
  it("match the docs", () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/guides/commands.md"), "utf8");
    const listed = [...page.matchAll(/^\| (\d+)(?:, (\d+))? \|/gm)].flatMap(([, one, other]) => [one, other]);
    const codes = [...Object.values(EXIT_CODES), exitCodeOfSignal("SIGINT"), exitCodeOfSignal("SIGTERM")];
    expect(listed.filter((code) => code !== undefined)).toEqual(codes.map(String));
  });

  it.each([
    ["TOOL_EXECUTION_FAILED", 1],
    ["TOOL_PATH_ESCAPE", 1],
    ["TOOL_COMMAND_FAILED", 1],
    ["TOOL_LIMIT_EXCEEDED", 5],
    ["TOOL_CIRCUIT_OPEN", 5],
    ["TOOL_OUTCOME_UNKNOWN", 6],
    ["TOOL_TIMEOUT", 124],
  ] as const)("%s: %i, in the one error shape", async (code, exitCode) => {
    const tool = throwing(new ToolwrightError(code, "It went wrong.", { hint: "Do better." }));
    const ran = await run([tool], ["t", "--json"]);
    expect(ran.code).toBe(exitCode);
    expect(ran.json()).toEqual({
      is_error: true,
      error_type: code.replace("TOOL_", "").toLowerCase(),
      message: "It went wrong.",
      next_action_hint: "Do better.",
    });
    expect(await run([tool], ["t"])).toMatchObject({ stderr: "error: It went wrong.\n  Do better.\n" });
  });

  it("7 if the store is unavailable", async () => {
    const tool = returning(1);
    const runtime = createRuntime({ store: import.meta.filename });
    const ran = await run([tool], ["t", "--json"], { runtime });
    expect(ran.code).toBe(7);
    expect(ran.json()).toMatchObject({ is_error: true, error_type: "store_damaged" });
  });

  it("2 for input that the schema refuses, which is logged", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const tool = defineTool({ name: "t", schema: z.object({ n: z.int().max(3) }), execute: () => 1 });
    expect(await run([tool], ["t", "9", "--run-id", "r"], { runtime })).toMatchObject({ code: 2 });
    expect(await runtime.calls({ runId: "r" })).toMatchObject([{ status: "error", inputJson: '{"n":9}' }]);
  });
});

it("shows all pending approvals of a call", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const inner = defineTool({
    name: "inner",
    schema: z.object({ n: z.int() }),
    needsApproval: true,
    approvalPrompt: ({ n }) => `Shall ${n} run?`,
    execute: ({ n }) => n,
  });
  const outer = defineTool({
    name: "outer",
    schema: z.object({}),
    execute: () => Promise.all([inner.execute({ n: 1 }), inner.execute({ n: 2 })]),
  });
  const typed = ["outer", "--run-id", "r"];
  const waiting = await run([outer], typed, { runtime });
  expect(waiting.code).toBe(3);
  for (const n of [1, 2]) {
    expect(waiting.stderr).toContain(`Shall ${n} run?\n  inner {"n":${n}}\n  Approve it: `);
  }
  expect(waiting.stderr).toMatch(/again with: {2}--run-id r\n$/);
  const { approval_ids: ids } = (await run([outer], [...typed, "--json"], { runtime })).json() as {
    approval_ids: string[];
  };
  expect(ids).toHaveLength(2);
  for (const id of ids) await runtime.resolveToolApproval(id, { approved: true });
  expect((await run([outer], [...typed, "--json"], { runtime })).json()).toEqual([1, 2]);
});

describe("runs", () => {
  const counted: string[] = [];
  const order = defineTool({
    name: "order",
    schema: z.object({ sku: z.string() }),
    sideEffect: true,
    idempotent: false,
    execute: ({ sku }, ctx) => {
      counted.push(`${ctx.runId} ${ctx.idempotencyKey}`);
      return `${sku} ${counted.length}`;
    },
  });

  it("are new for each command, and shared with the same id", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    await run([order], ["order", "apple"], { runtime });
    await run([order], ["order", "apple"], { runtime });
    expect(new Set(counted).size).toBe(2);
    const first = await run([order], ["order", "apple", "--run-id", "r"], { runtime });
    const second = await run([order], ["order", "apple", "--run-id", "r"], { runtime });
    expect([first.stdout, second.stdout]).toEqual(["apple 3\n", "apple 3\n"]);
  });
});
