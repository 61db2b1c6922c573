/**
 * Copies of a tool. A tool is a plain object, so programs change one by copying it: `{ ...tool, needsApproval: true }`. The
 * copy still carries the definition of the original. Here, and nowhere else, what was changed is found and obeyed; what
 * cannot be obeyed is refused. The same holds for a tool that was changed in place.
 */
import { checkUnknownOptions, policyNames } from "../definition/check-options.ts";
import type { ToolContext } from "../definition/context.ts";
import { isSameVersion, MADE_BY, packageConflict, sharedByCopies } from "../definition/package-copy.ts";
import {
  createToolSpec,
  isGenerator,
  SDK_PARTS,
  type ToolParts,
  type ToolSpec,
} from "../definition/tool-spec.ts";
import { z } from "zod";
import { readSdkParts, sdkOptions } from "./foreign/any-tool.ts";
import { readSchema } from "./foreign/foreign-schema.ts";
import { type ForeignContext, refuseTool } from "./foreign/foreign-tool.ts";
import { type AnyTool, type Tool, TOOL_METADATA, TOOL_SPEC } from "./tool.ts";

type Fields = Readonly<Record<PropertyKey, unknown>>;

interface Made {
  readonly tool: Tool;
  /** Its fields as they were then. */
  readonly fields: Fields;
  /** How many it had. */
  readonly count: number;
}

/** Each tool as it was made, by its definition. */
const originals = sharedByCopies("tools as made.2", () => new WeakMap<object, Made>());

const METHODS = ["execute", "invoke", "call", "run", "func"] as const;
const SCHEMAS = ["schema", "inputSchema"] as const;
const PARTS = ["name", "description", ...SCHEMAS, "outputSchema", ...METHODS, ...SDK_PARTS];
/** All that means something here. */
const KNOWN: readonly string[] = [...new Set([...PARTS, ...policyNames])];
const IS_KNOWN = new Set(KNOWN);

/** To be called with every tool that is made. */
export function rememberTool<T extends AnyTool>(tool: T): T {
  const { schema: _made, ...accessors } = Object.getOwnPropertyDescriptors(tool);
  const fields = Object.fromEntries(
    Object.entries(accessors).map(([name, { value }]) => [name, value as unknown]),
  );
  originals.set(tool[TOOL_SPEC], {
    tool: tool as unknown as Tool,
    fields: { ...fields, [TOOL_METADATA]: tool[TOOL_METADATA] },
    count: Object.keys(tool).length,
  });
  return tool;
}

/** Whether it is a tool of ours or a copy of one. */
export function carriesSpec(value: unknown): value is AnyTool {
  return typeof value === "object" && value !== null && TOOL_SPEC in value;
}

/** A tool of ours as it was made: nothing in it was changed. */
export function isTool(value: unknown): value is Tool {
  return carriesSpec(value) && changesIn(value) === undefined;
}

/**
 * The tool that a copy stands for: the original where nothing was changed, else one that obeys the changes.
 * @param parsedByLoop the loop has checked the input against the copy's own schema already, and handed on what came out
 * @throws TOOL_DEFINITION_INVALID where a change cannot be obeyed, TOOL_PACKAGE_CONFLICT
 */
export function specOfCopy(value: AnyTool, parsedByLoop = false): ToolSpec {
  const spec = value[TOOL_SPEC];
  const changes = changesIn(value);
  if (changes === undefined) return spec;
  const counted = parsedByLoop ? withoutSchemas(changes) : changes;
  if (counted === undefined) return spec;
  const known = derived.get(value);
  if (known !== undefined && known.parsedByLoop === parsedByLoop && isSame(known.changes, counted))
    return known.spec;
  const made = derive(value, spec, counted);
  derived.set(value, { changes: counted, parsedByLoop, spec: made });
  return made;
}

/** The original of a copy in which nothing was changed. */
export function originalOf(value: AnyTool): Tool | undefined {
  return originals.get(value[TOOL_SPEC])?.tool;
}

// One copy is one tool wherever it is used, as long as it stays what it is.
const derived = new WeakMap<object, { changes: Fields; parsedByLoop: boolean; spec: ToolSpec }>();

/** What differs from the tool as it was made; `undefined` where nothing does. */
function changesIn(value: AnyTool): Fields | undefined {
  const spec = value[TOOL_SPEC];
  if (!isSameVersion(spec[MADE_BY])) throw packageConflict(spec[MADE_BY], `Tool "${spec.name}"`);
  const made = originals.get(spec);
  if (made === undefined) {
    return refuseTool(
      spec.name,
      "it is a deep copy, which may have lost what guards it. Copy a tool with { ...tool }, or use fromTool(tool, { … }).",
    );
  }
  // Every call of every tool comes by here, so nothing is allocated unless something was changed.
  const given = value as unknown as Fields;
  const { fields } = made;
  let changes: Record<PropertyKey, unknown> | undefined;
  for (const name of KNOWN) {
    if (name === "schema" ? isOwnSchema(value, spec) : given[name] === fields[name]) continue;
    (changes ??= {})[name] = given[name];
  }
  // Whatever else was added. To the tool itself nothing was, if it has as many fields as when it was made.
  if (made.tool !== value || Object.keys(given).length !== made.count) {
    for (const name in given) {
      if (!IS_KNOWN.has(name) && given[name] !== fields[name]) (changes ??= {})[name] = given[name];
    }
  }
  if (given[TOOL_METADATA] !== fields[TOOL_METADATA]) (changes ??= {})[TOOL_METADATA] = given[TOOL_METADATA];
  return changes;
}

/** The schema of a tool of our own is made when it is asked for: not in order to compare it. */
function isOwnSchema(value: AnyTool, spec: ToolSpec): boolean {
  return originals.get(spec)?.tool === value || value.schema === spec.schema;
}

function withoutSchemas(changes: Fields): Fields | undefined {
  const { schema: _schema, inputSchema: _inputSchema, ...rest } = changes;
  return Object.keys(rest).length === 0 ? undefined : rest;
}

function isSame(one: Fields, other: Fields): boolean {
  const names = Reflect.ownKeys(one);
  return names.length === Reflect.ownKeys(other).length && names.every((name) => one[name] === other[name]);
}

function derive(value: AnyTool, spec: ToolSpec, changes: Fields): ToolSpec {
  const { name } = spec;
  if (TOOL_METADATA in changes) {
    refuseTool(name, "its copy has other metadata. Set sideEffect and idempotent instead.", {
      field: "metadata",
    });
  }
  checkUnknownOptions(changes, name, PARTS);
  const given = Object.fromEntries(Object.entries(changes).filter(([, change]) => change !== undefined));
  const policies = Object.fromEntries(
    policyNames.flatMap((policy) => (policy in given ? [[policy, given[policy]]] : [])),
  );
  const { description } = given;
  return createToolSpec(
    {
      ...spec,
      ...(typeof given["name"] === "string" ? { name: given["name"] } : {}),
      ...(typeof description === "string" ? { description } : {}),
      ...schemasFor(spec, given),
      ...executeFor(value, spec, changes),
      sdk: { ...spec.sdk, ...readSdkParts(given) },
      base: spec,
    },
    { ...spec.options, ...(spec.takesKey ? { acceptsIdempotencyKey: true } : {}), ...policies },
  );
}

type SchemaParts = Pick<ToolParts, "outputSchema"> & Partial<Pick<ToolParts, "schema" | "inputJsonSchema">>;

/** As in a loop of the AI SDK: the copy's schema first, then the one that the tool was made with, unless `execute` is new. */
function schemasFor(spec: ToolSpec, given: Fields): SchemaParts {
  const [first, second] = SCHEMAS.flatMap((field) => (field in given ? [given[field]] : []));
  if (second !== undefined && second !== first) {
    refuseTool(spec.name, "its copy has two schemas: schema and inputSchema differ.", { field: "schema" });
  }
  const outputSchema =
    "outputSchema" in given
      ? readSchema(given["outputSchema"], spec.name, "outputSchema").schema
      : spec.outputSchema;
  if (first === undefined) return { outputSchema };
  const { schema, jsonSchema } = readSchema(first, spec.name, "inputSchema");
  return {
    outputSchema,
    schema: METHODS.some((method) => method in given) ? schema : z.pipe(schema, spec.schema),
    inputJsonSchema:
      jsonSchema ?? createToolSpec({ ...spec, schema, inputJsonSchema: undefined }, {}).inputJsonSchema,
  };
}

type ExecuteParts = Partial<Pick<ToolParts, "execute" | "wraps" | "parsesInput" | "yields">>;

function executeFor(value: AnyTool, spec: ToolSpec, changes: Fields): ExecuteParts {
  const changed = METHODS.filter((method) => method in changes);
  if (changes["execute"] === undefined && "execute" in changes) {
    return refuseTool(spec.name, "its copy has no execute. Leave the tool out instead.", {
      field: "execute",
    });
  }
  const functions = new Set(
    changed.map((method) => changes[method]).filter((method) => method !== undefined),
  );
  const [given] = functions;
  if (given === undefined) return {};
  if (functions.size > 1) {
    return refuseTool(spec.name, `its copy has several functions: ${changed.join(", ")} differ.`, {
      field: "execute",
    });
  }
  if (typeof given !== "function") {
    return refuseTool(spec.name, `its copy has no function as ${changed[0]}.`, { field: changed[0] });
  }
  const execute = (args: unknown, ctx: ToolContext<object>): unknown =>
    given.call(value, args, guardOptions(ctx));
  return {
    execute,
    wraps: true,
    // The loop hands on what the schema made of the input. That of a tool of ours makes nothing of it.
    parsesInput: !SCHEMAS.some((field) => field in changes),
    yields: isGenerator(given),
  };
}

/** What an `execute` of an AI SDK tool is passed, and our context behind it. */
function guardOptions(ctx: ToolContext<object>): object {
  return Object.create(ctx, Object.getOwnPropertyDescriptors(sdkOptions(ctx as ForeignContext))) as object;
}
