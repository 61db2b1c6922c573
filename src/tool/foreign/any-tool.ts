/** An object of any maker: a schema under one of the usual names, and one of the usual methods. */
import { type ForeignTool, read, readPolicies, readSchema, refuseTool } from "./foreign-tool.ts";

const METHODS = ["execute", "invoke", "call", "func", "run"] as const;
const SCHEMAS = ["schema", "inputSchema", "parameters", "input_schema"] as const;

export function readAnyTool(value: object, name: string): ForeignTool {
  const run = methodOf(value, name);
  const found = SCHEMAS.map((field) => read(value, field)).find(
    (schema) => schema !== undefined && schema !== null,
  );
  return { run, ...readSchema(found, name), policies: readPolicies(value), parsesInput: false };
}

function methodOf(value: object, name: string): ForeignTool["run"] {
  const method = METHODS.find((candidate) => typeof read(value, candidate) === "function");
  if (method === undefined) {
    return refuseTool(name, `an object with one of ${METHODS.join(", ")} is expected.`);
  }
  // Looked up at each call and called on its owner: such objects use `this`.
  return (args, ctx) =>
    (value as Record<string, (...list: unknown[]) => unknown>)[method]?.(args, {
      signal: ctx.signal,
      abortSignal: ctx.signal,
      toolCallId: ctx.toolCallId ?? "",
      messages: [],
    });
}
