/** Reads a foreign tool of unknown type: a schema under a common name, and one of the common methods. */
import type { JsonSchema } from "../../definition/json-schema.ts";
import { isGenerator, SDK_PARTS, type SdkParts } from "../../definition/tool-spec.ts";
import { type Checked, type ForeignSchema, checkedBy, readSchema } from "./foreign-schema.ts";
import {
  type ForeignContext,
  type ForeignTool,
  has,
  read,
  readPolicies,
  readText,
  refuseTool,
} from "./foreign-tool.ts";

const METHODS = ["execute", "invoke", "call", "func", "run"] as const;
const SCHEMAS = ["schema", "inputSchema", "parameters", "input_schema"] as const;

/** @param shown the JSON Schema, for schemas that cannot be converted */
export function readAnyTool(value: object, name: string, shown?: JsonSchema): ForeignTool {
  refuseWhatRunsElsewhere(value, name);
  const method = methodOf(value, name);
  return {
    // Looked up at each call and called as a method: such objects use `this`.
    run: (args, ctx) =>
      (value as Record<string, (...list: unknown[]) => unknown>)[method]?.(args, sdkOptions(ctx)),
    ...schemaOf(value, name, shown),
    policies: readPolicies(value),
    parsesInput: false,
    yields: isGenerator(read(value, method)),
    sdk: readSdkParts(value),
  };
}

/** The options that the AI SDK passes to a tool. Other foreign tools read a signal in it. */
export function sdkOptions(ctx: ForeignContext): object {
  const { signal, toolCallId = "", messages = [], context, experimental_sandbox } = ctx;
  return { signal, abortSignal: signal, toolCallId, messages, context, experimental_sandbox };
}

export function readSdkParts(value: object): SdkParts {
  const description = read(value, "description");
  return {
    ...Object.fromEntries(
      SDK_PARTS.filter((part) => read(value, part) !== undefined).map((part) => [part, read(value, part)]),
    ),
    ...(typeof description === "function" ? { description } : {}),
  };
}

function methodOf(value: object, name: string): (typeof METHODS)[number] {
  const method = METHODS.find((candidate) => has(value, candidate));
  return method ?? refuseTool(name, `an object with one of ${METHODS.join(", ")} is expected.`);
}

function schemaOf(value: object, name: string, shown: JsonSchema | undefined): ForeignSchema {
  const field = SCHEMAS.find((candidate) => (read(value, candidate) ?? undefined) !== undefined);
  const found = readSchema(field === undefined ? undefined : read(value, field), name, field, shown);
  // Tools of the Anthropic SDK have a JSON Schema and a parser. The parser decides.
  return field === "input_schema" && has(value, "parse") ? parsedBy(value, found) : found;
}

function parsedBy(value: object, { schema, jsonSchema }: ForeignSchema): ForeignSchema {
  const parse = read(value, "parse") as (content: unknown) => unknown;
  const check = async (content: unknown): Promise<{ value: unknown }> => {
    const parsed = await parse.call(value, content);
    // The parser of a tool with a plain JSON Schema returns its input unchanged, so validate with the JSON Schema.
    return { value: parsed === content ? await schema.parseAsync(content) : parsed };
  };
  return { schema: checkedBy((content) => withIssues(check(content))), jsonSchema };
}

/** The issues of an error count like returned issues. */
async function withIssues(check: Promise<{ value: unknown }>): Promise<Checked> {
  try {
    return await check;
  } catch (error) {
    const { issues } = error as { issues?: unknown };
    if (Array.isArray(issues) && issues.length > 0) return { issues: issues as { message: string }[] };
    throw error;
  }
}

function refuseWhatRunsElsewhere(value: object, name: string): void {
  if (read(value, "isProviderExecuted") === true) {
    const id = readText(value, "id") ?? name;
    refuseTool(
      name,
      `"${id}" runs at the model's provider and cannot be called from here. Pass it to the AI SDK directly.`,
    );
  }
  if (has(value, "asTool", "resolveToolApproval")) {
    refuseTool(
      name,
      "it is a copy of an agent. Use agent.asTool({ … }), and modify the tool that it returns.",
    );
  }
}
