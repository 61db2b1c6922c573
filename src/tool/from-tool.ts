/**
 * Converts foreign tools: plain definitions, LangChain, OpenAI Agents and MCP objects, AI SDK tools. Their own policies are
 * kept. By default, a foreign tool counts as a non-idempotent side effect.
 */
import type { z } from "zod";
import { checkUnknownOptions, isZod } from "../definition/check-tool-options.ts";
import { describe, isOptionsObject, isPromise, isToolSource } from "../definition/option-checks.ts";
import type { ToolPolicies } from "../definition/tool-options.ts";
import { createToolSpec, type ToolSpec } from "../definition/tool-spec.ts";
import { ToolwrightError } from "../errors.ts";
import type { JsonSchema } from "../definition/json-schema.ts";
import { carriesSpec, isTool, originalOf, specOfCopy } from "./copied-tool.ts";
import { createCallable, specOf } from "./create-callable.ts";
import { warnAboutKey } from "./define-tool.ts";
import { readAnyTool } from "./foreign/any-tool.ts";
import { readSchema } from "./foreign/foreign-schema.ts";
import {
  type AnyPolicies,
  type ForeignTool,
  read,
  readPolicies,
  readText,
  refuseTool,
} from "./foreign/foreign-tool.ts";
import { isLangChainTool, readLangChainTool } from "./foreign/langchain-tool.ts";
import {
  isOpenAIAgentsTool,
  readOpenAIAgentsTool,
  refuseOtherOpenAIAgentsThing,
} from "./foreign/openai-agents-tool.ts";
import type { Registry } from "./registry.ts";
import { type AnyTool, getDefinedToolMetadata, originOf, type Tool } from "./tool.ts";

/**
 * Anything that `fromTool` accepts: a Toolwright tool, a plain definition, a tool from the AI SDK, LangChain or OpenAI
 * Agents, or an object with `invoke`, `call`, `run` or `func`.
 */
export type ToolLike = object;

/** An array, an object keyed by name, or a registry. */
export type ToolSource = readonly ToolLike[] | Readonly<Record<string, ToolLike>> | Registry;

export type ForeignPolicy = ToolPolicies<never, never, never> & {
  readonly name?: string;
  readonly description?: string;
  /** The JSON Schema for models, if the tool's schema cannot be converted, such as a Zod 3 or Valibot schema. */
  readonly inputJsonSchema?: JsonSchema;
};

const DEFINITION_PARTS = ["name", "description", "outputSchema", "execute"];

/** @param policy policies that override the tool's own */
export function fromTool(value: ToolLike, policy: ForeignPolicy = {}): Tool {
  if (!isToolLike(value)) throw notATool(value);
  if (isRegistry(value)) {
    throw new ToolwrightError(
      "TOOL_DEFINITION_INVALID",
      "fromTool: the value must be a tool, not a registry.",
      {
        hint: "Pass the registry itself instead of the array of tools, or its tools: ...registry.all().",
      },
    );
  }
  if (!isOptionsObject(policy)) {
    throw new ToolwrightError(
      "TOOL_DEFINITION_INVALID",
      `fromTool: the policy must be an object such as { sideEffect: false }, not ${describe(policy)}.`,
    );
  }
  checkUnknownOptions(policy, policy.name ?? readText(value, "name"), POLICY_PARTS);
  const origin = originOf(value);
  if (origin !== undefined) return fromTool(origin, policy);
  const hasPolicy = Object.keys(policy).length > 0;
  if (carriesSpec(value)) {
    const tool = fromCopy(value);
    return hasPolicy ? fromOwn(tool, policy) : tool;
  }
  const made = converted.get(value);
  if (made !== undefined && !hasPolicy) return made;
  const tool = isDefinition(value) ? fromDefinition(value, policy) : fromForeign(value, policy);
  if (!hasPolicy) converted.set(value, tool);
  return tool;
}

/** Tools are objects. A promise of one is not a tool yet. */
function isToolLike(value: unknown): value is ToolLike {
  return typeof value === "object" && value !== null && !isPromise(value);
}

/**
 * The spec for a call of the value, as in `fromTool(value)`, without creating a tool first.
 * @param field the name of the value in errors
 */
export function specFrom(value: ToolLike, field: string): ToolSpec {
  if (!isToolLike(value)) throw notATool(value, field);
  const isOwn = carriesSpec(value) && originOf(value) === undefined;
  return specOfCopy(isOwn ? value : fromTool(value));
}

/** The tool itself, or a tool with the changes of its copy applied. */
function fromCopy(value: AnyTool): Tool {
  const spec = specOfCopy(value);
  const made = copies.get(spec) ?? (isTool(value) ? originalOf(value) : undefined) ?? createCallable(spec);
  copies.set(spec, made);
  return made;
}

const copies = new WeakMap<object, Tool>();
const POLICY_PARTS = ["name", "description", "inputJsonSchema"];

/** Converts an array, an object keyed by name, or a registry to tools. */
export function toTools(tools: ToolSource): Tool[] {
  if (!isToolSource(tools)) {
    throw new ToolwrightError(
      "TOOL_DEFINITION_INVALID",
      `tools must be an array of tools, an object of tools by name, or a registry, not ${describe(tools)}.`,
    );
  }
  if (isRegistry(tools)) return tools.all();
  const name = readText(tools, "name");
  if (isToolLike(tools) && name !== undefined)
    throw new ToolwrightError(
      "TOOL_DEFINITION_INVALID",
      `tools must be a list, not the tool "${name}" itself.`,
      {
        hint: "Put it in a list: [tool].",
      },
    );
  // Spread, so that holes are checked too.
  const given = Array.isArray(tools) ? [...(tools as readonly ToolLike[])] : tools;
  return Object.entries(given as Readonly<Record<string, ToolLike>>).map(([name, tool]) => {
    if (!isToolLike(tool)) throw notATool(tool, `tools.${name}`);
    const isNamed = Array.isArray(given) || carriesSpec(tool) || readText(tool, "name") !== undefined;
    return isNamed ? fromTool(tool) : fromTool(tool, { name });
  });
}

/** By its methods, not `instanceof`: the registry may come from another copy of the package. */
export function isRegistry(source: object): source is Registry {
  return (
    "all" in source &&
    typeof source.all === "function" &&
    "register" in source &&
    typeof source.register === "function"
  );
}

function notATool(value: unknown, field = "fromTool: the value"): ToolwrightError {
  const own = typeof value === "function" && value.name !== "" ? ` ("${value.name}")` : "";
  const message = `${field} must be a tool, not ${describe(value)}${own}.`;
  return new ToolwrightError("TOOL_DEFINITION_INVALID", message, {
    hint:
      typeof value === "function"
        ? "Define a tool that calls the function: defineTool({ name, schema, execute }). Leave helper functions out of the tools."
        : "Pass a tool from defineTool, or an object with a schema and execute, invoke, call, run or func.",
  });
}

// Converted once, so that a plain object is the same tool wherever it is used.
const converted = new WeakMap<object, Tool>();

/** The same tool with further policies. */
function fromOwn(tool: Tool, policy: ForeignPolicy): Tool {
  const spec = specOf(tool);
  const { name = spec.name, description = spec.description, inputJsonSchema, ...policies } = policy;
  const shown = inputJsonSchema ?? spec.inputJsonSchema;
  return createCallable(
    createToolSpec({ ...spec, name, description, inputJsonSchema: shown }, { ...spec.options, ...policies }),
  );
}

type Definition = Readonly<Record<string, unknown>> & { readonly name: string };

/** The options of `defineTool` as a plain object: its schema may be called `schema` or `inputSchema`. */
function isDefinition(value: object): value is Definition {
  return (
    typeof read(value, "execute") === "function" &&
    schemaFieldOf(value) !== undefined &&
    readText(value, "name") !== undefined
  );
}

function schemaFieldOf(value: object): "schema" | "inputSchema" | undefined {
  const [field, ...others] = (["inputSchema", "schema"] as const).filter((name) => isZod(read(value, name)));
  return others.length === 0 ? field : undefined;
}

function fromDefinition(value: Definition, policy: ForeignPolicy): Tool {
  const schemaField = schemaFieldOf(value) ?? "inputSchema";
  checkUnknownOptions(value, value.name, [...DEFINITION_PARTS, schemaField]);
  const spec = createToolSpec(
    {
      name: policy.name ?? value.name,
      description: policy.description ?? readText(value, "description"),
      schema: value[schemaField] as z.ZodType,
      inputJsonSchema: policy.inputJsonSchema,
      outputSchema: readOutputSchema(value["outputSchema"], value.name),
      execute: value["execute"] as (args: never, ctx: never) => unknown,
    },
    { ...readPolicies(value), ...policy },
  );
  warnAboutKey(spec);
  return createCallable(spec);
}

function fromForeign(value: object, policy: ForeignPolicy): Tool {
  const metadata = getDefinedToolMetadata(value);
  const {
    name = metadata?.name ?? readText(value, "name") ?? "",
    description,
    inputJsonSchema,
    ...policies
  } = policy;
  const foreign = readForeign(value, name, policies, inputJsonSchema);
  const said = {
    sideEffect: metadata?.sideEffect ?? true,
    idempotent: metadata?.idempotent ?? false,
    // It was not written for our context, so it probably does not pass the key on.
    acceptsIdempotencyKey: false,
    ...foreign.policies,
    ...policies,
  };
  refuseIdleRetry(name, said);
  const spec = createToolSpec(
    {
      name,
      description: description ?? readText(value, "description") ?? describedBy(read(value, "description")),
      schema: foreign.schema,
      outputSchema: readOutputSchema(read(value, "outputSchema"), name),
      inputJsonSchema: foreign.jsonSchema,
      execute: foreign.run,
      parsesInput: foreign.parsesInput,
      yields: foreign.yields ?? false,
      sdk: foreign.sdk,
    },
    said,
  );
  return createCallable(spec);
}

/** Such a retry could never happen: errors of other SDKs have no `effect: "none"`. */
function refuseIdleRetry(name: string, policies: AnyPolicies): void {
  const { retry, sideEffect, idempotent, acceptsIdempotencyKey } = policies;
  const isUnrepeatable = sideEffect === true && idempotent !== true && acceptsIdempotencyKey !== true;
  if (!isUnrepeatable || retry?.maxRetries === undefined || retry.maxRetries === 0) return;
  refuseTool(
    name,
    "retry cannot be set on a foreign tool that counts as a non-idempotent side effect: it would never be retried. " +
      "If it has no external effect, set sideEffect: false; if it may run twice, set idempotent: true.",
    { field: "retry" },
  );
}

/** In the AI SDK, a description may be a function of the loop's context. Other loops have no such context. */
function describedBy(describe: unknown): string | undefined {
  if (typeof describe !== "function") return undefined;
  try {
    const text: unknown = describe({});
    return typeof text === "string" ? text : undefined;
  } catch {
    // It needs the context, so the name is used instead.
    return undefined;
  }
}

/** The schema is not sent to models, so any schema that can validate is accepted. */
function readOutputSchema(found: unknown, name: string): z.ZodType | undefined {
  return found === undefined || found === null
    ? undefined
    : readSchema(found, name, "outputSchema", {}).schema;
}

function readForeign(
  value: object,
  name: string,
  policy: AnyPolicies,
  shown: JsonSchema | undefined,
): ForeignTool {
  if (isOpenAIAgentsTool(value)) return readOpenAIAgentsTool(value, name, policy);
  if (isLangChainTool(value)) return readLangChainTool(value, name);
  refuseOtherOpenAIAgentsThing(value, name);
  return readAnyTool(value, name, shown);
}
