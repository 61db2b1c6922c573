/** Checks the options of a tool definition. Every message names the tool and the option. */
import { ToolwrightError } from "../errors.ts";
import {
  aBoolean,
  aFullText,
  aFunction,
  aNumber,
  aNumberIn,
  anInteger,
  aText,
  type Check,
  describe,
  either,
  fields,
  fieldsWith,
  listOf,
  oneOf,
  paths,
  Problem,
  refuseUnknown,
  storable,
  valuesOf,
} from "./option-checks.ts";
import { nearestName } from "./nearest-name.ts";
import { isStorableText, isTooLongForId, LONGEST_ID_BYTES } from "../util/storable-text.ts";
import type { ToolPolicies } from "./tool-options.ts";

type AnyPolicies = ToolPolicies<unknown, unknown, object>;

const LONGEST_RATE_MS = 31 * 86_400_000;

/** Every policy option. The type makes the list complete. */
export const POLICIES: Readonly<Record<keyof AnyPolicies, Check>> = {
  sideEffect: aBoolean,
  idempotent: aBoolean,
  group: aText,
  terminal: either("true, false or { status }", aBoolean, fields({ status: aText })),
  needsApproval: either("true, false or a function", aBoolean, aFunction),
  approvalPrompt: either("a string or a function", aText, aFunction),
  approvalDefaults: storable,
  approvalTtlMs: aNumber(1),
  maxExecutionsPerRun: anInteger(0),
  concurrency: fieldsWith(["max"], { max: anInteger(1), key: aFunction }),
  rate: fieldsWith(["max", "perMs"], {
    max: anInteger(1),
    perMs: aNumberIn(1, LONGEST_RATE_MS),
    key: aFunction,
  }),
  cache: (value, field) => {
    if (typeof value !== "boolean")
      fields({ keyFn: aFunction, ttlMs: aNumber(0), scope: oneOf("run", "global") })(value, field);
  },
  retry: fields({
    maxRetries: anInteger(0),
    backoffMs: aNumber(0),
    maxBackoffMs: aNumber(0),
    shouldRetry: aFunction,
    circuitBreakerThreshold: anInteger(1),
    breaker: fields({ scope: oneOf("run", "shared"), resetMs: aNumber(0) }),
  }),
  timeoutMs: aNumber(1),
  idempotencyKey: aFunction,
  reconcile: aFunction,
  replay: oneOf("recorded", "run"),
  acceptsIdempotencyKey: aBoolean,
  settleMs: aNumber(0),
  onUnknown: oneOf("run", "ask", "tell", "fail"),
  revert: aFunction,
  revertNeedsApproval: either("true, false or a function", aBoolean, aFunction),
  costOf: aFunction,
  redact: fields({ input: paths, output: paths }),
  cli: fields({
    positionals: either(
      "an array of fields, or { name, parse }",
      listOf(either("a field or { name, parse }", aFullText, parsedPositional)),
      parsedPositional,
    ),
    aliases: either('an object such as { depth: "-d" }', valuesOf(aFullText)),
    hidden: aBoolean,
  }),
};

export const policyNames = Object.keys(POLICIES) as (keyof AnyPolicies)[];

interface NamedParts {
  readonly name: unknown;
  readonly description?: unknown;
  readonly schema: unknown;
  readonly outputSchema?: unknown;
  readonly execute: unknown;
}

/** @param parts the option names of this way to define a tool, besides the policies */
export function checkUnknownOptions(options: object, name: unknown, parts: readonly string[]): void {
  named(name, () => {
    refuseForeignNames(options, parts);
    refuseUnknown(options, [...parts, ...policyNames]);
  });
}

/** Names that other SDKs, and the other ways to define a tool, use for our options. */
const FOREIGN_NAMES: Readonly<Record<string, readonly string[]>> = {
  parameters: ["schema", "inputSchema"],
  inputSchema: ["schema"],
  input_schema: ["schema", "inputSchema"],
  output_schema: ["outputSchema"],
  input: ["schema", "inputSchema"],
  handler: ["execute", "func"],
  callback: ["execute", "func"],
  fn: ["execute", "func"],
  run: ["execute", "func"],
  func: ["execute"],
  execute: ["func"],
  requiresApproval: ["needsApproval"],
  requireApproval: ["needsApproval"],
  confirm: ["needsApproval"],
  requireConfirmation: ["needsApproval"],
  retries: ["retry: { maxRetries }"],
  maxRetries: ["retry: { maxRetries }"],
};

function refuseForeignNames(options: object, parts: readonly string[]): void {
  for (const [foreign, names] of Object.entries(FOREIGN_NAMES)) {
    if (!Object.hasOwn(options, foreign) || parts.includes(foreign)) continue;
    const own = names.find(
      (name) => parts.includes(name) || policyNames.some((policy) => name.startsWith(policy)),
    );
    if (own === undefined) continue;
    throw new Problem(
      foreign,
      `is called "${own}" here.${own === "schema" ? ' Pass a Zod 4 schema as "schema", or convert a tool of another SDK with fromTool(tool).' : ""}`,
    );
  }
}

export function checkPolicies(parts: NamedParts, options: AnyPolicies): void {
  named(parts.name, () => {
    if (typeof parts.name !== "string" || parts.name.trim() === "") {
      throw new Problem("name", `must be a non-empty string, not ${describe(parts.name)}.`);
    }
    if (!isStorableText(parts.name)) {
      throw new Problem("name", "must not contain U+0000 or a lone surrogate.");
    }
    if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(parts.name)) {
      throw new Problem(
        "name",
        `must not contain line breaks or other control characters: it is ${JSON.stringify(parts.name)}.`,
      );
    }
    if (isTooLongForId(parts.name)) {
      throw new Problem("name", `must be at most ${LONGEST_ID_BYTES} bytes long.`);
    }
    if (parts.description !== undefined) aText(parts.description, "description");
    zodSchema(parts.schema, "schema");
    if (defOf(parts.schema).type === "never")
      throw new Problem("schema", "must accept some input, not z.never(). Without arguments: z.object({}).");
    if (parts.outputSchema !== undefined) zodSchema(parts.outputSchema, "outputSchema");
    aFunction(parts.execute, "execute");
    for (const name of policyNames) {
      if (options[name] !== undefined) POLICIES[name](options[name], name);
    }
    if (options.sideEffect === true && options.cache !== undefined && options.cache !== false) {
      throw new Problem(
        "cache",
        "cannot be combined with sideEffect: true: a cached result would skip the effect. If the tool has no external effect, set sideEffect: false.",
      );
    }
    if (options.revert !== undefined && options.sideEffect !== true)
      throw new Problem("revert", "needs sideEffect: true: a tool without an effect has nothing to revert.");
    if (options.revertNeedsApproval !== undefined && options.revert === undefined)
      throw new Problem("revertNeedsApproval", "needs a revert function.");
    checkRedactPaths("input", options.redact?.input ?? [], parts.schema);
    if (parts.outputSchema !== undefined)
      checkRedactPaths("output", options.redact?.output ?? [], parts.outputSchema);
  });
}

/** A misspelt path would hide nothing. An output may have more fields than its schema promises, so only slips are refused. */
function checkRedactPaths(io: "input" | "output", redacted: readonly string[], schema: unknown): void {
  const fields = fieldsOf(schema, io);
  for (const path of redacted) {
    const names = path.split(".");
    if (mayHold(schema, names, io, 0)) continue;
    const near = nearestName(names[0] ?? "", fields);
    if (io === "output" && (near === undefined || near === names[0])) continue;
    const rest =
      near !== undefined && near !== names[0]
        ? ` Did you mean "${[near, ...names.slice(1)].join(".")}"?`
        : fields.length === 0
          ? ""
          : ` It has ${fields.join(", ")}.`;
    throw new Problem(
      `redact.${io}`,
      `names "${path}", which the ${io} never has, so nothing would be hidden.${rest}`,
    );
  }
}

/** The parts of a Zod definition that lead to other schemas. */
interface SchemaDef {
  readonly type?: string;
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly catchall?: unknown;
  readonly element?: unknown;
  readonly innerType?: unknown;
  readonly options?: readonly unknown[];
  readonly left?: unknown;
  readonly right?: unknown;
  readonly in?: unknown;
  readonly out?: unknown;
}

function defOf(schema: unknown): SchemaDef {
  return (schema as { readonly _zod: { readonly def: SchemaDef } })._zod.def;
}

const DEEPEST = 50;

/** Whether the schema leaves room for a value at this path. Only an object that lists its fields says no. */
function mayHold(schema: unknown, path: readonly string[], io: "input" | "output", depth: number): boolean {
  const [name] = path;
  if (name === undefined || !isZod(schema) || depth > DEEPEST) return true;
  const within = (inner: unknown, rest = path): boolean => mayHold(inner, rest, io, depth + 1);
  const def = defOf(schema);
  if (def.type === "object" && def.shape !== undefined) {
    if (def.catchall !== undefined && defOf(def.catchall).type !== "never") return true;
    return Object.entries(def.shape).some(([field, inner]) => {
      const count = name === "*" ? 1 : field.split(".").length;
      const isNamed = name === "*" || path.slice(0, count).join(".") === field;
      return isNamed && within(inner, path.slice(count));
    });
  }
  if (def.type === "array") {
    const isPlace = name === "*" || /^\d+$/.test(name);
    return within(def.element, isPlace ? path.slice(1) : path);
  }
  if (def.type === "union") return def.options?.some((option) => within(option)) ?? true;
  if (def.type === "intersection") return within(def.left) || within(def.right);
  // Arguments are hidden as they are sent, outputs as they come out.
  if (def.type === "pipe") return within(io === "input" ? def.in : def.out);
  return def.innerType === undefined || within(def.innerType);
}

function fieldsOf(schema: unknown, io: "input" | "output"): string[] {
  const { shape, innerType, in: input, out } = defOf(schema);
  if (shape !== undefined) return Object.keys(shape);
  const inner = innerType ?? (io === "input" ? input : out);
  return isZod(inner) ? fieldsOf(inner, io) : [];
}

export function isZod(value: unknown): boolean {
  return typeof value === "object" && value !== null && "_zod" in value;
}

export const zodSchema: Check = (value, field) => {
  if (isZod(value)) return;
  if (isZod3(value)) {
    throw new Problem(
      field,
      'must be a Zod 4 schema, but this is a Zod 3 schema. Install zod@4 and import { z } from "zod"; with zod 3.25 import it from "zod/v4".',
    );
  }
  throw new Problem(field, `must be a Zod 4 schema, not ${describe(value)}.${hintForSchema(value, field)}`);
};

function isZod3(value: unknown): boolean {
  return typeof value === "object" && value !== null && "_def" in value && "safeParse" in value;
}

/** MCP servers take the bare fields of a z.object(). */
function hintForSchema(value: unknown, field: string): string {
  const isFields = typeof value === "object" && value !== null && Object.values(value).some(isZod);
  if (isFields) return " Wrap its fields in z.object({ … }).";
  const isJsonSchema = typeof value === "object" && value !== null && "type" in value;
  if (value === undefined && field === "schema") return " Without arguments: z.object({}).";
  return isJsonSchema
    ? " For a JSON Schema use z.fromJSONSchema(schema), or fromTool({ name, inputSchema, execute })."
    : "";
}

function parsedPositional(value: unknown, field: string): void {
  fields({ name: aFullText, parse: aFunction })(value, field);
  const { name, parse } = value as Record<string, unknown>;
  aFullText(name, `${field}.name`);
  aFunction(parse, `${field}.parse`);
}

function named(tool: unknown, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const name = typeof tool === "string" ? tool : "";
    throw new ToolwrightError("TOOL_DEFINITION_INVALID", `Tool ${JSON.stringify(name)}: ${error.sentence}`, {
      details: { tool: name, field: error.field },
    });
  }
}
