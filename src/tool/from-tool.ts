/**
 * Tools of other makers: plain definitions, LangChain and MCP objects, AI SDK tools. What they say about policies is
 * kept. What they do not say is assumed to be the worst: a foreign tool is a side effect that must not be repeated.
 */
import { z } from "zod";
import { checkUnknownOptions, isZod, policyNames } from "../definition/check-options.ts";
import { getDefinedToolMetadata } from "../definition/metadata.ts";
import type { JsonSchema } from "../definition/json-schema.ts";
import type { ToolPolicies } from "../definition/tool-options.ts";
import { createToolSpec } from "../definition/tool-spec.ts";
import { ToolwrightError } from "../errors.ts";
import { createCallable } from "./create-callable.ts";
import { warnAboutKey } from "./define-tool.ts";
import { isTool, TOOL_SPEC, type Tool } from "./tool.ts";

/** Anything that `fromTool` accepts: a tool of ours, a plain definition, or an object with `invoke`, `call`, `run` or `func`. */
export type ToolLike = object;

export type ForeignPolicy = ToolPolicies<never, never, never> & {
  readonly name?: string;
  readonly description?: string;
};

const DEFINITION_PARTS = ["name", "description", "inputSchema", "outputSchema", "execute"];

/** @param policy what to say about the tool beyond what it says itself; it counts more */
export function fromTool(value: ToolLike, policy: ForeignPolicy = {}): Tool {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) {
    throw new ToolwrightError(
      "TOOL_DEFINITION_INVALID",
      `A tool is expected, not ${value === null ? "null" : typeof value}.`,
    );
  }
  checkUnknownOptions(policy, policy.name ?? readText(value, "name"), ["name", "description"]);
  if (isTool(value) && Object.keys(policy).length === 0) return value;
  const made = converted.get(value);
  if (made !== undefined && Object.keys(policy).length === 0) return made;
  const tool = isTool(value)
    ? fromOwn(value, policy)
    : isDefinition(value)
      ? fromDefinition(value, policy)
      : fromForeign(value, policy);
  if (Object.keys(policy).length === 0) converted.set(value, tool);
  return tool;
}

/** A list, or an object keyed by name, as tools. */
export function toTools(tools: readonly ToolLike[] | Readonly<Record<string, ToolLike>>): Tool[] {
  if (Array.isArray(tools)) return tools.map((tool: ToolLike) => fromTool(tool));
  return Object.entries(tools).map(([name, tool]) =>
    isTool(tool) || readText(tool, "name") !== undefined ? fromTool(tool) : fromTool(tool, { name }),
  );
}

// Converted once, so that a plain object is one tool wherever it is used.
const converted = new WeakMap<object, Tool>();

/** The same tool with more said about it. */
function fromOwn(tool: Tool, policy: ForeignPolicy): Tool {
  const spec = tool[TOOL_SPEC];
  const { name = spec.name, description = spec.description, ...policies } = policy;
  return createCallable(createToolSpec({ ...spec, name, description }, { ...spec.options, ...policies }));
}

type Definition = Readonly<Record<string, unknown>> & {
  readonly name: string;
  readonly inputSchema: z.ZodType;
};

function isDefinition(value: object): value is Definition {
  return (
    !isTool(value) &&
    "execute" in value &&
    typeof value.execute === "function" &&
    "inputSchema" in value &&
    isZod(value.inputSchema) &&
    readText(value, "name") !== undefined
  );
}

function fromDefinition(value: Definition, policy: ForeignPolicy): Tool {
  checkUnknownOptions(value, value.name, DEFINITION_PARTS);
  const spec = createToolSpec(
    {
      name: policy.name ?? value.name,
      description: policy.description ?? readText(value, "description"),
      schema: value.inputSchema,
      outputSchema: value["outputSchema"] as z.ZodType | undefined,
      execute: value["execute"] as (args: never, ctx: never) => unknown,
    },
    { ...policiesOf(value), ...policy },
  );
  warnAboutKey(spec);
  return createCallable(spec);
}

function fromForeign(value: object, policy: ForeignPolicy): Tool {
  const metadata = getDefinedToolMetadata(value);
  const name = policy.name ?? metadata?.name ?? readText(value, "name") ?? "";
  const run = methodOf(value, name);
  const { schema, jsonSchema } = schemaOf(value, name);
  const { name: _name, description: _description, ...policies } = policy;
  const spec = createToolSpec(
    {
      name,
      description: policy.description ?? readText(value, "description"),
      schema,
      outputSchema: isZod(read(value, "outputSchema"))
        ? (read(value, "outputSchema") as z.ZodType)
        : undefined,
      inputJsonSchema: jsonSchema,
      execute: run,
    },
    {
      sideEffect: metadata?.sideEffect ?? true,
      idempotent: metadata?.idempotent ?? false,
      // It was not written for our context, so it cannot be counted on to pass the key on.
      acceptsIdempotencyKey: false,
      ...policiesOf(value),
      ...policies,
    },
  );
  return createCallable(spec);
}

function policiesOf(value: object): ToolPolicies<never, never, never> {
  return Object.fromEntries(
    policyNames.filter((name) => read(value, name) !== undefined).map((name) => [name, read(value, name)]),
  );
}

const METHODS = ["execute", "invoke", "call", "func", "run"] as const;

function methodOf(
  value: object,
  name: string,
): (args: unknown, ctx: { signal: AbortSignal; toolCallId?: string | undefined }) => unknown {
  const method = METHODS.find((candidate) => typeof read(value, candidate) === "function");
  if (method === undefined) {
    throw new ToolwrightError(
      "TOOL_DEFINITION_INVALID",
      `Tool "${name}": an object with one of ${METHODS.join(", ")} is expected.`,
      { details: { tool: name } },
    );
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

/** Zod, an AI SDK schema, a Standard Schema with a JSON Schema, or a plain JSON Schema: all are validated. */
function schemaOf(value: object, name: string): { schema: z.ZodType; jsonSchema: JsonSchema | undefined } {
  const found =
    read(value, "schema") ??
    read(value, "inputSchema") ??
    read(value, "parameters") ??
    read(value, "input_schema");
  if (found === undefined)
    return { schema: z.record(z.string(), z.unknown()), jsonSchema: { type: "object" } };
  if (isZod(found)) return { schema: found as z.ZodType, jsonSchema: undefined };
  const jsonSchema = jsonSchemaIn(found);
  if (jsonSchema === undefined) {
    throw new ToolwrightError(
      "TOOL_DEFINITION_INVALID",
      `Tool "${name}": its schema is neither Zod 4 nor JSON Schema.`,
      {
        details: { tool: name, field: "schema" },
      },
    );
  }
  try {
    return { schema: z.fromJSONSchema(jsonSchema), jsonSchema };
  } catch (cause) {
    throw new ToolwrightError(
      "TOOL_DEFINITION_INVALID",
      `Tool "${name}": its JSON Schema cannot be used: ${cause instanceof Error ? cause.message : String(cause)}.`,
      { details: { tool: name, field: "schema" }, cause },
    );
  }
}

function jsonSchemaIn(found: unknown): JsonSchema | undefined {
  if (typeof found !== "object" || found === null) return undefined;
  const inner: unknown = "jsonSchema" in found ? found.jsonSchema : found;
  if (typeof inner !== "object" || inner === null || "_def" in inner) return undefined;
  return inner as JsonSchema;
}

function read(value: object, name: string): unknown {
  return (value as Record<string, unknown>)[name];
}

function readText(value: object, name: string): string | undefined {
  const text = read(value, name);
  return typeof text === "string" ? text : undefined;
}
