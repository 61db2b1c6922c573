/** A tool as data: its schemas and its flags. */
import { toOutputJsonSchema } from "../definition/json-schema.ts";
import { specOf } from "../tool/create-callable.ts";
import type { Tool } from "../tool/tool.ts";

export function describeTool(tool: Tool): Record<string, unknown> {
  const { sideEffect, idempotent, needsApproval, terminal, inputJsonSchema, outputSchema } = specOf(tool);
  return {
    name: tool.name,
    group: tool.group ?? null,
    description: tool.description,
    sideEffect,
    idempotent,
    // A function decides for each call.
    needsApproval: typeof needsApproval === "function" ? "depends" : (needsApproval ?? false),
    terminal,
    inputSchema: inputJsonSchema,
    outputSchema: outputSchema === undefined ? null : toOutputJsonSchema(outputSchema),
  };
}

export function flagsOf(tool: Tool): string[] {
  const { sideEffect, idempotent, needsApproval, terminal } = specOf(tool);
  return [
    ...(sideEffect ? [idempotent ? "idempotent side effect" : "side effect"] : ["pure"]),
    ...(needsApproval === true
      ? ["approval"]
      : typeof needsApproval === "function"
        ? ["maybe approval"]
        : []),
    ...(terminal === false ? [] : ["terminal"]),
  ];
}
