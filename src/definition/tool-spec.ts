/** The spec of a tool for the pipeline: every option checked, and every default resolved. */
import type { z } from "zod";
import type { ToolContext } from "./context.ts";
import { type JsonSchema, toInputJsonSchema } from "./json-schema.ts";
import { MADE_BY, OWN_COPY, type PackageCopy } from "./package-copy.ts";
import { checkPolicies } from "./check-tool-options.ts";
import { noteSideEffect } from "./revertible-tools.ts";
import type {
  CacheOptions,
  CliOptions,
  ConcurrencyOptions,
  OnUnknown,
  RateOptions,
  RetryOptions,
  ToolPolicies,
} from "./tool-options.ts";

/** Arguments are `unknown` here: their type is certain only once the schema has parsed them. */
type AnyPolicies = ToolPolicies<unknown, unknown, object>;

/** Fields of a tool that only an AI SDK loop reads. They are passed on unchanged. */
export const SDK_PARTS = [
  "type",
  "title",
  "metadata",
  "providerOptions",
  "strict",
  "inputExamples",
  "deferLoading",
  "contextSchema",
  "onInputStart",
  "onInputDelta",
  "onInputAvailable",
  "toModelOutput",
  "id",
  "args",
  "isProviderExecuted",
] as const;

export type SdkParts = Readonly<Partial<Record<(typeof SDK_PARTS)[number] | "description", unknown>>>;

/** The fields that an MCP server lists for a tool besides its schemas. Hints for clients: nothing here depends on them. */
export interface McpParts {
  readonly title?: string | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
  readonly icons?: readonly Readonly<Record<string, unknown>>[] | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

export interface ToolSpec {
  readonly [MADE_BY]: PackageCopy;
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
  readonly outputSchema: z.ZodType | undefined;
  readonly inputJsonSchema: JsonSchema;
  /** The JSON Schema that the output schema was created from, if any. */
  readonly outputJsonSchema: JsonSchema | undefined;
  readonly mcp: McpParts;
  readonly execute: (args: unknown, ctx: ToolContext<object>) => unknown;
  readonly sideEffect: boolean;
  readonly idempotent: boolean;
  readonly replay: "recorded" | "run";
  readonly onUnknown: OnUnknown | undefined;
  /** Whether `execute` passes the idempotency key on, by its definition or its source. */
  readonly takesKey: boolean;
  readonly settleMs: number;
  readonly cache: CacheOptions<unknown> | undefined;
  readonly retry: RetryOptions;
  readonly timeoutMs: number | undefined;
  readonly maxExecutionsPerRun: number | undefined;
  readonly concurrency: ConcurrencyOptions<unknown> | undefined;
  readonly rate: RateOptions<unknown> | undefined;
  readonly needsApproval: AnyPolicies["needsApproval"];
  readonly approvalPrompt: AnyPolicies["approvalPrompt"];
  readonly approvalDefaults: AnyPolicies["approvalDefaults"];
  readonly approvalTtlMs: number | undefined;
  readonly idempotencyKey: AnyPolicies["idempotencyKey"];
  readonly reconcile: AnyPolicies["reconcile"];
  readonly revert: AnyPolicies["revert"];
  readonly revertNeedsApproval: AnyPolicies["revertNeedsApproval"];
  readonly costOf: AnyPolicies["costOf"];
  readonly redactInput: readonly string[];
  readonly redactOutput: readonly string[];
  readonly group: string | undefined;
  readonly terminal: false | { readonly status: string };
  readonly cli: CliOptions;
  /** The policies as the author wrote them. */
  readonly options: ToolPolicies<never, never, never>;
  /** The field whose content is logged as a digest only. */
  readonly digestInput: string | undefined;
  /** It reads or changes files below the root: a run that calls it stays on its host. */
  readonly usesFiles: boolean;
  /** Uses no limit of the run. */
  readonly isExempt: boolean;
  /** Its arguments come from the log, so they may contain redaction marks. */
  readonly takesMarks: boolean;
  /** Whether `execute` declares a second parameter. */
  readonly declaresContext: boolean;
  /** Whether `execute` parses its input itself: then it receives the input as sent, so that nothing is transformed twice. */
  readonly parsesInput: boolean;
  /** Whether `execute` is a generator: all yields but the last are preliminary results. */
  readonly yields: boolean;
  readonly sdk: SdkParts;
  /** The original tool, if this one is a modified copy. */
  readonly base: ToolSpec | undefined;
  /** Whether the copy has another `execute`, which may call the original. */
  readonly wraps: boolean;
}

export interface ToolParts {
  readonly name: string;
  readonly description?: string | undefined;
  readonly schema: z.ZodType;
  readonly outputSchema?: z.ZodType | undefined;
  /** The JSON Schema that the schema was created from, if any. */
  readonly inputJsonSchema?: JsonSchema | undefined;
  readonly outputJsonSchema?: JsonSchema | undefined;
  readonly mcp?: McpParts | undefined;
  readonly execute: (args: never, ctx: never) => unknown;
  readonly parsesInput?: boolean | undefined;
  readonly yields?: boolean | undefined;
  readonly sdk?: SdkParts | undefined;
  readonly base?: ToolSpec | undefined;
  readonly wraps?: boolean | undefined;
}

const DEFAULT_SETTLE_MS = 1_000;

/** Settings that only built-in tools have. */
export interface BuiltInParts {
  /** The field with content that is too large for the log: only its digest is logged. */
  readonly digestInput?: string | undefined;
  readonly usesFiles?: boolean | undefined;
  /** Set for the tool by which an agent returns its answer: no limit may refuse it. */
  readonly isExempt?: boolean | undefined;
  readonly takesMarks?: boolean | undefined;
}

export function createToolSpec(
  parts: ToolParts & BuiltInParts,
  policies: ToolPolicies<never, never, never>,
): ToolSpec {
  checkPolicies(parts, policies as unknown as AnyPolicies);
  const { name, schema } = parts;
  const inputJsonSchema = parts.inputJsonSchema ?? toInputJsonSchema(schema, name);
  const spec = { ...resolve(parts, policies), schema, inputJsonSchema };
  // The tool of a revert belongs only to that revert.
  if (spec.sideEffect && !spec.isExempt) noteSideEffect(spec);
  return spec;
}

/** The spec of a built-in tool, which needs no check. Its schema is created on first use, to keep the import cheap. */
export function createBuiltInSpec(
  parts: Omit<ToolParts, "schema"> & BuiltInParts & { readonly schema: () => z.ZodType },
  policies: ToolPolicies<never, never, never>,
): ToolSpec {
  let schema: z.ZodType | undefined;
  let inputJsonSchema: JsonSchema | undefined;
  return {
    ...resolve(parts, policies),
    get schema() {
      return (schema ??= parts.schema());
    },
    get inputJsonSchema() {
      return (inputJsonSchema ??= toInputJsonSchema(this.schema, parts.name));
    },
  };
}

function resolve(
  parts: Omit<ToolParts, "schema"> & BuiltInParts,
  policies: ToolPolicies<never, never, never>,
): Omit<ToolSpec, "schema" | "inputJsonSchema"> {
  const options = policies as unknown as AnyPolicies;
  const sideEffect = options.sideEffect ?? false;
  const idempotent = options.idempotent ?? !sideEffect;
  const declaresContext = parts.execute.length >= 2;
  return {
    [MADE_BY]: OWN_COPY,
    name: parts.name,
    description: parts.description ?? parts.name,
    outputSchema: parts.outputSchema,
    outputJsonSchema: parts.outputJsonSchema,
    mcp: parts.mcp ?? {},
    execute: parts.execute as ToolSpec["execute"],
    sideEffect,
    idempotent,
    replay: options.replay ?? (sideEffect && !idempotent ? "recorded" : "run"),
    onUnknown: options.onUnknown,
    takesKey: options.acceptsIdempotencyKey ?? namesKey(parts.execute),
    settleMs: options.settleMs ?? DEFAULT_SETTLE_MS,
    cache: options.cache === true ? {} : options.cache === false ? undefined : options.cache,
    retry: options.retry ?? {},
    timeoutMs: options.timeoutMs,
    maxExecutionsPerRun: options.maxExecutionsPerRun,
    concurrency: options.concurrency,
    rate: options.rate,
    needsApproval: options.needsApproval,
    approvalPrompt: options.approvalPrompt,
    approvalDefaults: options.approvalDefaults,
    approvalTtlMs: options.approvalTtlMs,
    idempotencyKey: options.idempotencyKey,
    reconcile: options.reconcile,
    revert: options.revert,
    revertNeedsApproval: options.revertNeedsApproval,
    costOf: options.costOf,
    redactInput: options.redact?.input ?? [],
    redactOutput: options.redact?.output ?? [],
    group: options.group,
    terminal: terminalOf(options.terminal),
    cli: options.cli ?? {},
    options: policies,
    digestInput: parts.digestInput,
    usesFiles: parts.usesFiles === true,
    isExempt: parts.isExempt ?? false,
    takesMarks: parts.takesMarks ?? false,
    declaresContext,
    parsesInput: parts.parsesInput ?? false,
    yields: parts.yields ?? isGenerator(parts.execute),
    sdk: parts.sdk ?? {},
    base: parts.base,
    wraps: parts.wraps ?? false,
  };
}

export function isGenerator(execute: unknown): boolean {
  return typeof execute === "function" && /Generator/.test(Object.prototype.toString.call(execute));
}

const KEY_NAMES = /\b(?:idempotencyKey|getToolIdempotencyKey)\b/;

/** A `ctx` parameter alone proves nothing: the tool may only use `ctx.log`. A comment about the key proves nothing either. */
export function namesKey(execute: (...args: never[]) => unknown): boolean {
  const source = Function.prototype.toString.call(execute);
  return KEY_NAMES.test(source) && KEY_NAMES.test(withoutComments(source));
}

// A text or a template is kept whole, so that an address in it is not cut at its `//`.
const TEXT_OR_COMMENT =
  /("(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'|`(?:\\[^]|[^`\\])*`)|\/\/.*|\/\*[^]*?\*\//g;

/**
 * Not a parser: in rare cases, such as a regular expression that ends in `//`, the rest of a line is lost too. Then an
 * interrupted call waits for approval, although its tool may pass its key on.
 */
function withoutComments(source: string): string {
  return source.replaceAll(TEXT_OR_COMMENT, (_match, text: string | undefined) => text ?? " ");
}

function terminalOf(terminal: AnyPolicies["terminal"]): ToolSpec["terminal"] {
  if (terminal === undefined || terminal === false) return false;
  return terminal === true ? { status: "complete" } : terminal;
}

/**
 * Whether an equal call of a later attempt runs again, regardless of the earlier outcome. A business key takes
 * precedence.
 */
export function runsInEachAttempt(spec: ToolSpec): boolean {
  return spec.replay === "run" && spec.idempotencyKey === undefined;
}

/** A function with a `ctx` parameter may pass it to another one, which reads the key. */
export function mayPassKeyOn({ options, takesKey, declaresContext }: ToolSpec): boolean {
  return options.acceptsIdempotencyKey ?? (takesKey || declaresContext);
}

/** A non-idempotent side effect: it must never happen twice. */
export function isUnrepeatable(spec: ToolSpec): boolean {
  return spec.sideEffect && !spec.idempotent;
}
