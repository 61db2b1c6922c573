/** Refuses a definition that cannot mean what its author meant. Every message names the tool and the option. */
import { ToolwrightError } from "../errors.ts";
import type { ToolPolicies } from "./tool-options.ts";

type AnyPolicies = ToolPolicies<unknown, unknown, object>;

interface NamedParts {
  readonly name: unknown;
  readonly description?: unknown;
  readonly schema: unknown;
  readonly outputSchema?: unknown;
  readonly execute: unknown;
}

/** Every policy option, so that a misspelt one is noticed. The type makes the list complete. */
const POLICY_NAMES: Readonly<Record<keyof AnyPolicies, true>> = {
  sideEffect: true,
  idempotent: true,
  group: true,
  terminal: true,
  needsApproval: true,
  approvalPrompt: true,
  approvalDefaults: true,
  approvalTtlMs: true,
  maxExecutionsPerRun: true,
  cache: true,
  retry: true,
  timeoutMs: true,
  idempotencyKey: true,
  reconcile: true,
  replay: true,
  acceptsIdempotencyKey: true,
  settleMs: true,
  onUnknown: true,
  costOf: true,
  redact: true,
  cli: true,
};

export const policyNames = Object.keys(POLICY_NAMES) as (keyof AnyPolicies)[];

export function checkUnknownOptions(options: object, name: string, parts: readonly string[]): void {
  const known = new Set<string>([...parts, ...policyNames]);
  const unknown = Object.keys(options).filter((option) => !known.has(option));
  if (unknown.length === 0) return;
  const near = nearest(unknown[0] ?? "", known);
  throw refusal(
    name,
    unknown.join(", "),
    `is not an option of a tool.${near === undefined ? "" : ` Did you mean "${near}"?`}`,
  );
}

export function checkPolicies(parts: NamedParts, options: AnyPolicies): void {
  const { name } = parts;
  if (typeof name !== "string" || name.trim() === "") {
    throw refusal(describe(name), "name", `must be a text that is not empty, not ${describe(name)}.`);
  }
  const check = (field: string, ok: boolean, problem: string): void => {
    if (!ok) throw refusal(name, field, problem);
  };
  const checkNumber = (field: string, value: number | undefined, minimum: number, isInteger = true): void => {
    const fits =
      value === undefined ||
      (typeof value === "number" && value >= minimum && (!isInteger || Number.isInteger(value)));
    check(
      field,
      fits,
      `must be ${isInteger ? "a whole number" : "a number"} of at least ${minimum}, not ${describe(value)}.`,
    );
  };
  const checkOneOf = (field: string, value: unknown, values: readonly string[]): void =>
    check(
      field,
      value === undefined || values.includes(value as string),
      `must be ${values.map((one) => `"${one}"`).join(", ")}, not ${describe(value)}.`,
    );
  const checkFunction = (field: string, value: unknown): void =>
    check(
      field,
      value === undefined || typeof value === "function",
      `must be a function, not ${describe(value)}.`,
    );
  const checkBoolean = (field: string, value: unknown): void =>
    check(
      field,
      value === undefined || typeof value === "boolean",
      `must be true or false, not ${describe(value)}.`,
    );

  check(
    "description",
    parts.description === undefined || typeof parts.description === "string",
    "must be a text.",
  );
  check("schema", isZod(parts.schema), `must be a Zod 4 schema, not ${describe(parts.schema)}.`);
  check(
    "outputSchema",
    parts.outputSchema === undefined || isZod(parts.outputSchema),
    `must be a Zod 4 schema, not ${describe(parts.outputSchema)}.`,
  );
  check(
    "execute",
    typeof parts.execute === "function",
    `must be a function, not ${describe(parts.execute)}.`,
  );

  checkBoolean("sideEffect", options.sideEffect);
  checkBoolean("idempotent", options.idempotent);
  checkBoolean("acceptsIdempotencyKey", options.acceptsIdempotencyKey);
  checkOneOf("replay", options.replay, ["recorded", "run"]);
  checkOneOf("onUnknown", options.onUnknown, ["run", "ask", "tell", "fail"]);
  checkNumber("maxExecutionsPerRun", options.maxExecutionsPerRun, 0);
  checkNumber("timeoutMs", options.timeoutMs, 1, false);
  checkNumber("settleMs", options.settleMs, 0, false);
  checkNumber("approvalTtlMs", options.approvalTtlMs, 1, false);
  checkFunction("idempotencyKey", options.idempotencyKey);
  checkFunction("reconcile", options.reconcile);
  checkFunction("costOf", options.costOf);
  if (typeof options.needsApproval !== "function") checkBoolean("needsApproval", options.needsApproval);
  if (typeof options.approvalPrompt !== "string") checkFunction("approvalPrompt", options.approvalPrompt);

  const { retry, cache, redact } = options;
  if (retry !== undefined) {
    check("retry", typeof retry === "object" && retry !== null, `must be an object, not ${describe(retry)}.`);
    checkNumber("retry.maxRetries", retry.maxRetries, 0);
    checkNumber("retry.backoffMs", retry.backoffMs, 0, false);
    checkNumber("retry.maxBackoffMs", retry.maxBackoffMs, 0, false);
    checkNumber("retry.circuitBreakerThreshold", retry.circuitBreakerThreshold, 1);
    checkNumber("retry.breaker.resetMs", retry.breaker?.resetMs, 0, false);
    checkFunction("retry.shouldRetry", retry.shouldRetry);
    checkOneOf("retry.breaker.scope", retry.breaker?.scope, ["run", "shared"]);
  }
  if (cache !== undefined && cache !== false) {
    check(
      "cache",
      options.sideEffect !== true,
      "cannot be set on a side effect: a cached answer would skip the effect.",
    );
    if (cache !== true) {
      check(
        "cache",
        typeof cache === "object" && cache !== null,
        `must be true or an object, not ${describe(cache)}.`,
      );
      checkNumber("cache.ttlMs", cache.ttlMs, 0, false);
      checkFunction("cache.keyFn", cache.keyFn);
      checkOneOf("cache.scope", cache.scope, ["run", "global"]);
    }
  }
  for (const part of ["input", "output"] as const) {
    const paths = redact?.[part];
    check(
      `redact.${part}`,
      paths === undefined ||
        (Array.isArray(paths) && paths.every((path) => typeof path === "string" && path !== "")),
      'must be a list of dotted paths, for example ["card.number"].',
    );
  }
}

export function isZod(value: unknown): boolean {
  return typeof value === "object" && value !== null && "_zod" in value;
}

function refusal(tool: string, field: string, problem: string): ToolwrightError {
  return new ToolwrightError("TOOL_DEFINITION_INVALID", `Tool "${tool}": ${field} ${problem}`, {
    details: { tool, field },
  });
}

function describe(value: unknown): string {
  if (value === null || value === undefined || typeof value === "number" || typeof value === "boolean") {
    return String(value);
  }
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "function" ? "a function" : "an object";
}

/** The known name that differs least, if it differs little. */
function nearest(name: string, known: ReadonlySet<string>): string | undefined {
  const lower = name.toLowerCase();
  return [...known].find((candidate) => {
    const other = candidate.toLowerCase();
    return other === lower || other.startsWith(lower) || lower.startsWith(other);
  });
}
