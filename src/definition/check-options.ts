/** Refuses a definition that cannot mean what its author meant. Every message names the tool and the option. */
import { ToolwrightError } from "../errors.ts";
import {
  aBoolean,
  aFullText,
  aFunction,
  aNumber,
  anInteger,
  aText,
  type Check,
  describe,
  either,
  fields,
  listOf,
  oneOf,
  paths,
  Problem,
  refuseUnknown,
  storable,
  valuesOf,
} from "./option-checks.ts";
import { isStorableText, isTooLongForId, LONGEST_ID_BYTES } from "../util/storable-text.ts";
import type { ToolPolicies } from "./tool-options.ts";

type AnyPolicies = ToolPolicies<unknown, unknown, object>;

/** Every policy option. The type makes the list complete. */
export const POLICIES: Readonly<Record<keyof AnyPolicies, Check>> = {
  sideEffect: aBoolean,
  idempotent: aBoolean,
  group: aText,
  terminal: either("true, false or { status }", aBoolean, fields({ status: aText })),
  needsApproval: either("true, false or a function", aBoolean, aFunction),
  approvalPrompt: either("a text or a function", aText, aFunction),
  approvalDefaults: storable,
  approvalTtlMs: aNumber(1),
  maxExecutionsPerRun: anInteger(0),
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
  costOf: aFunction,
  redact: fields({ input: paths, output: paths }),
  cli: fields({
    positionals: either(
      "a list of fields, or { name, parse }",
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

/** @param parts the names that this spelling has beside the policies */
export function checkUnknownOptions(options: object, name: unknown, parts: readonly string[]): void {
  named(name, () => {
    refuseForeignNames(options, parts);
    refuseUnknown(options, [...parts, ...policyNames]);
  });
}

/** What other SDKs call the same thing. */
const FOREIGN_NAMES: Readonly<Record<string, string>> = {
  parameters: "schema",
  inputSchema: "schema",
  input_schema: "schema",
  output_schema: "outputSchema",
  handler: "execute",
  run: "execute",
};

function refuseForeignNames(options: object, parts: readonly string[]): void {
  const isForeign = (name: string): boolean => Object.hasOwn(options, name) && !parts.includes(name);
  for (const foreign of Object.keys(FOREIGN_NAMES).filter(isForeign)) {
    const meant = FOREIGN_NAMES[foreign] ?? "";
    const own = meant === "execute" && !parts.includes(meant) ? "func" : meant;
    throw new Problem(
      foreign,
      `is called "${own}" here.${own === "schema" ? ' Pass a Zod 4 schema as "schema", or take a tool of another SDK as it is by fromTool(tool).' : ""}`,
    );
  }
}

export function checkPolicies(parts: NamedParts, options: AnyPolicies): void {
  named(parts.name, () => {
    if (typeof parts.name !== "string" || parts.name.trim() === "") {
      throw new Problem("name", `must be a text that is not empty, not ${describe(parts.name)}.`);
    }
    if (!isStorableText(parts.name)) {
      throw new Problem("name", "must not hold U+0000 or half a surrogate pair.");
    }
    if (isTooLongForId(parts.name)) {
      throw new Problem("name", `must be at most ${LONGEST_ID_BYTES} bytes long.`);
    }
    if (parts.description !== undefined) aText(parts.description, "description");
    zodSchema(parts.schema, "schema");
    if (parts.outputSchema !== undefined) zodSchema(parts.outputSchema, "outputSchema");
    aFunction(parts.execute, "execute");
    for (const name of policyNames) {
      if (options[name] !== undefined) POLICIES[name](options[name], name);
    }
    if (options.sideEffect === true && options.cache !== undefined && options.cache !== false) {
      throw new Problem(
        "cache",
        "cannot be set on a side effect: a cached answer would skip the effect. If the tool changes nothing outside, say sideEffect: false.",
      );
    }
  });
}

export function isZod(value: unknown): boolean {
  return typeof value === "object" && value !== null && "_zod" in value;
}

export const zodSchema: Check = (value, field) => {
  if (isZod(value)) return;
  if (isZod3(value)) {
    throw new Problem(
      field,
      'must be a Zod 4 schema, and this is one of Zod 3. Install zod@4 and import { z } from "zod"; with zod 3.25 import it from "zod/v4".',
    );
  }
  throw new Problem(field, `must be a Zod 4 schema, not ${describe(value)}.${hintForSchema(value)}`);
};

function isZod3(value: unknown): boolean {
  return typeof value === "object" && value !== null && "_def" in value && "safeParse" in value;
}

/** Fields without z.object around them, as MCP servers take them. */
function hintForSchema(value: unknown): string {
  const isFields = typeof value === "object" && value !== null && Object.values(value).some(isZod);
  return isFields ? " Put z.object( … ) around its fields." : "";
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
    throw new ToolwrightError("TOOL_DEFINITION_INVALID", `Tool "${name}": ${error.sentence}`, {
      details: { tool: name, field: error.field },
    });
  }
}
