/**
 * Copies of a tool. A tool is a plain object, so programs modify one by copying it: `{ ...tool, needsApproval: true }`. The
 * copy still has the spec of the original. This file finds the changes and applies them, or refuses changes that it
 * cannot apply. It does the same for a tool that was modified in place.
 */
import { checkUnknownOptions, policyNames } from "../definition/check-tool-options.ts";
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
  /** Its original fields. */
  readonly fields: Fields;
  /** The original values of `KNOWN`, in its order. */
  readonly known: readonly unknown[];
  /** The names of its original fields without the schema, their values, and the number of all its properties. */
  readonly names: readonly string[];
  readonly values: readonly unknown[];
  readonly count: number;
}

/** The original of each tool, by its spec. */
const originals = sharedByCopies("tools as made.4", () => new WeakMap<object, Made>());

const METHODS = ["execute", "invoke", "call", "run", "func"] as const;
const SCHEMAS = ["schema", "inputSchema"] as const;
const PARTS = ["name", "description", ...SCHEMAS, "outputSchema", ...METHODS, ...SDK_PARTS];
/** All fields that have a meaning here. */
const KNOWN: readonly string[] = [...new Set([...PARTS, ...policyNames])];
const IS_KNOWN = new Set(KNOWN);

/** Must be called for every new tool. */
export function rememberTool<T extends AnyTool>(tool: T): T {
  const { schema: _made, ...accessors } = Object.getOwnPropertyDescriptors(tool);
  const fields: Fields = Object.fromEntries(
    Object.entries(accessors).map(([name, { value }]) => [name, value as unknown]),
  );
  const names = Object.keys(fields);
  originals.set(tool[TOOL_SPEC], {
    tool: tool as unknown as Tool,
    fields: { ...fields, [TOOL_METADATA]: tool[TOOL_METADATA] },
    known: KNOWN.map((name) => fields[name]),
    names,
    values: names.map((name) => fields[name]),
    count: Reflect.ownKeys(tool).length,
  });
  return tool;
}

/** Whether it is one of our tools, or a copy of one. */
export function carriesSpec(value: unknown): value is AnyTool {
  return typeof value === "object" && value !== null && TOOL_SPEC in value;
}

/** An unmodified Toolwright tool. */
export function isTool(value: unknown): value is Tool {
  return carriesSpec(value) && changesIn(value) === undefined;
}

/**
 * The spec of a copy: the original's if nothing was changed, else a spec with the changes applied.
 * @param parsedByLoop the loop has already parsed the input with the copy's own schema
 * @throws TOOL_DEFINITION_INVALID if a change cannot be applied, TOOL_PACKAGE_CONFLICT
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

/** The original of an unmodified copy. */
export function originalOf(value: AnyTool): Tool | undefined {
  return originals.get(value[TOOL_SPEC])?.tool;
}

// A copy has one spec wherever it is used, until it is modified again.
const derived = new WeakMap<object, { changes: Fields; parsedByLoop: boolean; spec: ToolSpec }>();

/** The fields that differ from the original; `undefined` if none do. */
function changesIn(value: AnyTool): Fields | undefined {
  const spec = value[TOOL_SPEC];
  if (!isSameVersion(spec[MADE_BY])) throw packageConflict(spec[MADE_BY], `Tool "${spec.name}"`);
  const made = originals.get(spec);
  if (made === undefined) {
    return refuseTool(
      spec.name,
      "it is a deep copy, which may have lost its policies. Copy a tool with { ...tool }, or use fromTool(tool, { … }).",
    );
  }
  const given = value as unknown as Fields;
  const { fields, known } = made;
  const isOriginal = made.tool === value;
  if (isOriginal && isAsMade(given, made)) return undefined;
  let changes: Record<PropertyKey, unknown> | undefined;
  for (let index = 0; index < KNOWN.length; index += 1) {
    const name = KNOWN[index] as string;
    // The schema of a built-in tool is created on first use, so do not create it just to compare it.
    if (name === "schema") {
      if (isOriginal || value.schema === spec.schema) continue;
    } else if (given[name] === known[index]) continue;
    (changes ??= {})[name] = given[name];
  }
  for (const name in given) {
    if (!IS_KNOWN.has(name) && given[name] !== fields[name]) (changes ??= {})[name] = given[name];
  }
  if (given[TOOL_METADATA] !== fields[TOOL_METADATA]) (changes ??= {})[TOOL_METADATA] = given[TOOL_METADATA];
  return changes;
}

/** For every call of an original: it has the properties that it was made with, and no others. */
function isAsMade(given: Fields, { names, values, count, fields }: Made): boolean {
  if (Reflect.ownKeys(given).length !== count || Object.getPrototypeOf(given) !== Object.prototype)
    return false;
  for (let index = 0; index < names.length; index += 1)
    if (given[names[index] as string] !== values[index]) return false;
  return given[TOOL_METADATA] === fields[TOOL_METADATA];
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
    refuseTool(name, "its copy has different metadata. Set sideEffect and idempotent instead.", {
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

/** As in an AI SDK loop: the copy's schema parses first, then the original's, unless `execute` was replaced. */
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
    // An AI SDK loop passes parsed input. The schema that our tools give it passes values on unparsed.
    parsesInput: !SCHEMAS.some((field) => field in changes),
    yields: isGenerator(given),
  };
}

/** The options that an AI SDK tool receives, which inherit from our context. */
function guardOptions(ctx: ToolContext<object>): object {
  return Object.create(ctx, Object.getOwnPropertyDescriptors(sdkOptions(ctx as ForeignContext))) as object;
}
