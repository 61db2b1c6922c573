/** Tools that end an agent's task: complete, failed or waiting. Each stops the loop that calls it. */
import { z } from "zod";
import { defineTool } from "../tool/define-tool.ts";

const outputSchema = z.object({ message: z.string(), is_error: z.boolean() });

const complete_task = defineTool({
  name: "complete_task",
  description: "Mark the current task as complete with a summary of what was accomplished.",
  group: "task",
  terminal: { status: "complete" },
  schema: z.object({ summary: z.string().describe("Summary of work done") }),
  outputSchema,
  execute: ({ summary }) => ({ message: `Task completed: ${summary}`, is_error: false }),
});

const fail_task = defineTool({
  name: "fail_task",
  description: "Mark the current task as failed, with the reason why it cannot be done.",
  group: "task",
  terminal: { status: "failed" },
  schema: z.object({ reason: z.string().describe("Why the task cannot be done") }),
  outputSchema,
  execute: ({ reason }) => ({ message: `Task failed: ${reason}`, is_error: false }),
});

const wait_task = defineTool({
  name: "wait_task",
  description: "Put the current task aside until something else has happened, and say what it waits for.",
  group: "task",
  terminal: { status: "waiting" },
  schema: z.object({ reason: z.string().describe("What the task waits for") }),
  outputSchema,
  execute: ({ reason }) => ({ message: `Task waiting: ${reason}`, is_error: false }),
});

export const taskTools = { complete_task, fail_task, wait_task };
