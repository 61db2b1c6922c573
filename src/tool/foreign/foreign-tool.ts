/** A tool of another maker as we take it, and what can be read of any of them. */
import { z } from "zod";
import { isZod, policyNames } from "../../definition/check-options.ts";
import type { JsonSchema } from "../../definition/json-schema.ts";
import type { ToolPolicies } from "../../definition/tool-options.ts";
import { ToolwrightError } from "../../errors.ts";

export type AnyPolicies = ToolPolicies<never, never, never>;

export interface ForeignTool {
  readonly run: (args: unknown, ctx: ForeignContext) => unknown;
  readonly schema: z.ZodType;
  /** Given where the schema was made from it. */
  readonly jsonSchema: JsonSchema | undefined;
  /** What it says about policies, in our words. */
  readonly policies: AnyPolicies;
  /** Whether it parses its input itself. */
  readonly parsesInput: boolean;
}

/** What a foreign tool can be handed of our context. The last two are there where its own maker's loop makes the call. */
export interface ForeignContext {
  readonly signal: AbortSignal;
  readonly toolCallId?: string | undefined;
  readonly runContext?: unknown;
  readonly runnableConfig?: unknown;
}

export function read(value: object, name: string): unknown {
  return (value as Record<string, unknown>)[name];
}

export function readText(value: object, name: string): string | undefined {
  const text = read(value, name);
  return typeof text === "string" ? text : undefined;
}

export function has(value: object, ...methods: string[]): boolean {
  return methods.every((name) => typeof read(value, name) === "function");
}

export function readPolicies(value: object): AnyPolicies {
  return Object.fromEntries(
    policyNames.filter((name) => read(value, name) !== undefined).map((name) => [name, read(value, name)]),
  );
}

export function refuseTool(tool: string, message: string, details: object = {}, cause?: unknown): never {
  throw new ToolwrightError("TOOL_DEFINITION_INVALID", `Tool "${tool}": ${message}`, {
    details: { tool, ...details },
    cause,
  });
}

/** Zod, an AI SDK schema, a Standard Schema with a JSON Schema, or a plain JSON Schema: all are validated. */
export function readSchema(found: unknown, name: string): Pick<ForeignTool, "schema" | "jsonSchema"> {
  if (found === undefined)
    return { schema: z.record(z.string(), z.unknown()), jsonSchema: { type: "object" } };
  if (isZod(found)) return { schema: found as z.ZodType, jsonSchema: undefined };
  const jsonSchema = jsonSchemaIn(found);
  if (jsonSchema === undefined) {
    refuseTool(name, "its schema is neither Zod 4 nor JSON Schema.", { field: "schema" });
  }
  try {
    return { schema: z.fromJSONSchema(jsonSchema), jsonSchema };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return refuseTool(name, `its JSON Schema cannot be used: ${reason}.`, { field: "schema" }, cause);
  }
}

function jsonSchemaIn(found: unknown): JsonSchema | undefined {
  if (typeof found !== "object" || found === null) return undefined;
  const inner: unknown = "jsonSchema" in found ? found.jsonSchema : found;
  if (typeof inner !== "object" || inner === null || "_def" in inner) return undefined;
  return inner as JsonSchema;
}
