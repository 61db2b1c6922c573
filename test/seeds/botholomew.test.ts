/** The samples of the Botholomew page about ToolDefinition and the registry, with the import changed. */
import { getAllTools, getTool, getToolsByGroup, registerTool } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import type { ToolContext, ToolDefinition } from "toolwright";
import { createWorld } from "../semantics/harness.ts";

const inputSchema = z.object({
  summary: z.string().describe("Summary of work done"),
});

const outputSchema = z.object({
  message: z.string(),
  is_error: z.boolean(),
});

export const completeTaskTool = {
  name: "complete_task",
  description: "Mark the current task as complete with a summary of what was accomplished.",
  group: "task",
  terminal: true,
  inputSchema,
  outputSchema,
  // oxlint-disable-next-line no-unused-vars -- as on the page
  execute: async (input, ctx) => ({
    message: `Task completed: ${input.summary}`,
    is_error: false,
  }),
} satisfies ToolDefinition<typeof inputSchema, typeof outputSchema>;

it("complete_task: registered by one line, found by name and group, terminal, with descriptions for the model", async () => {
  const world = await createWorld();
  registerTool(completeTaskTool);
  const tool = getTool("complete_task");
  if (tool === undefined) throw new Error("not registered");
  expect(getAllTools()).toContain(tool);
  expect(getToolsByGroup("task")).toEqual([tool]);
  expect(tool.terminal).toEqual({ status: "complete" });
  expect(tool.inputSchema.jsonSchema).toMatchObject({
    type: "object",
    properties: { summary: { type: "string", description: "Summary of work done" } },
    required: ["summary"],
  });
  expect(
    await (await world.runtime()).call(completeTaskTool, { summary: "all" }, { runId: "r" }),
  ).toMatchObject({
    status: "success",
    output: { message: "Task completed: all", is_error: false },
  });
});

it("tests import the definition and call execute() themselves", async () => {
  const context = { conn: {}, dbPath: "db" } as unknown as ToolContext;
  expect(await completeTaskTool.execute({ summary: "all" }, context)).toEqual({
    message: "Task completed: all",
    is_error: false,
  });
});

it("a malformed call is a clear error the model can recover from, and output is validated", async () => {
  const world = await createWorld();
  const runtime = await world.runtime();
  const bad = await runtime.call(completeTaskTool, { summary: 5 }, { runId: "r" });
  expect(bad.status === "error" && bad.error.toModel()).toMatchObject({
    is_error: true,
    error_type: "input_invalid",
    message: expect.stringContaining("summary"),
  });
  const lying = { ...completeTaskTool, name: "lying", execute: async () => ({ message: 5 }) };
  expect(await runtime.call(lying, { summary: "x" }, { runId: "r" })).toMatchObject({
    error: { code: "TOOL_OUTPUT_INVALID" },
  });
});

it("ctx is the only capability surface: conn is open for one call, dbPath and config are data", async () => {
  interface BotholomewContext {
    conn: { query(sql: string): string };
    dbPath: string;
    projectDir: string;
    config: { model: string };
    mcpxClient: null;
  }
  const world = await createWorld();
  const log: string[] = [];
  const contextRead = {
    name: "context_read",
    group: "context",
    inputSchema: z.object({ path: z.string() }),
    outputSchema: z.object({ content: z.string() }),
    execute: async ({ path }, ctx) => ({
      content: `${ctx.conn.query(path)} ${ctx.dbPath} ${String(ctx.mcpxClient)}`,
    }),
  } satisfies ToolDefinition<
    z.ZodObject<{ path: z.ZodString }>,
    z.ZodObject<{ content: z.ZodString }>,
    BotholomewContext
  >;
  const withDb = () => ({
    query: (sql: string) => {
      log.push(`query ${sql}`);
      return "row";
    },
    [Symbol.asyncDispose]: async () => void log.push("close"),
  });
  const runtime = await world.runtime({
    capabilities: () => ({
      conn: withDb(),
      dbPath: "data.db",
      projectDir: "project",
      config: { model: "m" },
      mcpxClient: null,
    }),
  });
  expect(await runtime.call(contextRead, { path: "a" }, { runId: "r" })).toMatchObject({
    output: { content: "row data.db null" },
  });
  expect(log).toEqual(["query a", "close"]);
});
