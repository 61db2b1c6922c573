/** A tool as the pipeline sees it: every option resolved to its default, every contradiction refused. */
import type { z } from "zod";
import type { ToolContext } from "./context.ts";
import { type JsonSchema, toInputJsonSchema } from "./json-schema.ts";
import { MADE_BY, OWN_COPY, type PackageCopy } from "./package-copy.ts";
import { checkPolicies } from "./check-options.ts";
import type { CacheOptions, CliOptions, OnUnknown, RetryOptions, ToolPolicies } from "./tool-options.ts";

/** Arguments are only known to be what the schema says once they are parsed, so here they are `unknown`. */
type AnyPolicies = ToolPolicies<unknown, unknown, object>;

/** What an AI SDK loop reads from a tool beside what every tool has. It is handed on as it is. */
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

/** What an MCP server says about a tool beside its schemas. Hints for clients: nothing here depends on them. */
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
  /** Given where the output schema was made from this JSON Schema. */
  readonly outputJsonSchema: JsonSchema | undefined;
  readonly mcp: McpParts;
  readonly execute: (args: unknown, ctx: ToolContext<object>) => unknown;
  readonly sideEffect: boolean;
  readonly idempotent: boolean;
  readonly replay: "recorded" | "run";
  readonly onUnknown: OnUnknown | undefined;
  /** Whether the definition says, or the text of `execute` shows, that it passes the idempotency key on. */
  readonly takesKey: boolean;
  readonly settleMs: number;
  readonly cache: CacheOptions<unknown> | undefined;
  readonly retry: RetryOptions;
  readonly timeoutMs: number | undefined;
  readonly maxExecutionsPerRun: number | undefined;
  readonly needsApproval: AnyPolicies["needsApproval"];
  readonly approvalPrompt: AnyPolicies["approvalPrompt"];
  readonly approvalDefaults: AnyPolicies["approvalDefaults"];
  readonly approvalTtlMs: number | undefined;
  readonly idempotencyKey: AnyPolicies["idempotencyKey"];
  readonly reconcile: AnyPolicies["reconcile"];
  readonly costOf: AnyPolicies["costOf"];
  readonly redactInput: readonly string[];
  readonly redactOutput: readonly string[];
  readonly group: string | undefined;
  readonly terminal: false | { readonly status: string };
  readonly cli: CliOptions;
  /** The policies as the author gave them. */
  readonly options: ToolPolicies<never, never, never>;
  /** The field that is described in the log, and never shown there. */
  readonly digestInput: string | undefined;
  /** Touches no budget of the run. */
  readonly isExempt: boolean;
  /** Whether `execute` was written with a second parameter. */
  readonly declaresContext: boolean;
  /** Whether `execute` parses its input itself: then it is handed what was sent, and nothing is transformed twice. */
  readonly parsesInput: boolean;
  /** Whether `execute` yields: the yields before the last one are preliminary results. */
  readonly yields: boolean;
  readonly sdk: SdkParts;
  /** The tool that this one is a changed copy of. */
  readonly base: ToolSpec | undefined;
  /** Whether the copy has another `execute`, which may call the tool's own. */
  readonly wraps: boolean;
}

export interface ToolParts {
  readonly name: string;
  readonly description?: string | undefined;
  readonly schema: z.ZodType;
  readonly outputSchema?: z.ZodType | undefined;
  /** Given where the schema was made from this JSON Schema. */
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

/** For tools of our own: what an author cannot say. */
export interface BuiltInParts {
  /** The field with content that is too much for a log: it is described there, never shown. */
  readonly digestInput?: string | undefined;
  /** How an agent gives its answer must not fail at a budget. */
  readonly isExempt?: boolean | undefined;
}

export function createToolSpec(
  parts: ToolParts & BuiltInParts,
  policies: ToolPolicies<never, never, never>,
): ToolSpec {
  checkPolicies(parts, policies as unknown as AnyPolicies);
  const { name, schema } = parts;
  const inputJsonSchema = parts.inputJsonSchema ?? toInputJsonSchema(schema, name);
  return { ...resolve(parts, policies), schema, inputJsonSchema };
}

/** Of a tool of our own, which needs no check. Its schema is made when somebody asks for it: importing it costs little. */
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
    needsApproval: options.needsApproval,
    approvalPrompt: options.approvalPrompt,
    approvalDefaults: options.approvalDefaults,
    approvalTtlMs: options.approvalTtlMs,
    idempotencyKey: options.idempotencyKey,
    reconcile: options.reconcile,
    costOf: options.costOf,
    redactInput: options.redact?.input ?? [],
    redactOutput: options.redact?.output ?? [],
    group: options.group,
    terminal: terminalOf(options.terminal),
    cli: options.cli ?? {},
    options: policies,
    digestInput: parts.digestInput,
    isExempt: parts.isExempt ?? false,
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

/** Merely taking `ctx` proves nothing: it may be there for `ctx.log`. */
function namesKey(execute: ToolParts["execute"]): boolean {
  return /\b(?:idempotencyKey|getToolIdempotencyKey)\b/.test(Function.prototype.toString.call(execute));
}

function terminalOf(terminal: AnyPolicies["terminal"]): ToolSpec["terminal"] {
  if (terminal === undefined || terminal === false) return false;
  return terminal === true ? { status: "complete" } : terminal;
}

/** Whether an equal call of a later attempt runs again, whatever became of the earlier one. A business key wins. */
export function runsInEachAttempt(spec: ToolSpec): boolean {
  return spec.replay === "run" && spec.idempotencyKey === undefined;
}

/** A function with `ctx` may hand it to another one, which reads the key. */
export function mayPassKeyOn({ options, takesKey, declaresContext }: ToolSpec): boolean {
  return options.acceptsIdempotencyKey ?? (takesKey || declaresContext);
}

/** A non-idempotent side effect: what must never happen twice. */
export function isUnrepeatable(spec: ToolSpec): boolean {
  return spec.sideEffect && !spec.idempotent;
}
