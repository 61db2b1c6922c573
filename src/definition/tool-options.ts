/** The options of a tool, which `defineTool`, `createTool` and `ToolDefinition` share. */
import type { z } from "zod";
import type { ToolCapabilities, ToolContext } from "./context.ts";

// With `Promise` alongside `PromiseLike`, compiler errors name the resolved type instead of `then`.
export type Awaitable<T> = T | Promise<T> | PromiseLike<T>;

export interface CacheOptions<Args> {
  /** What makes two calls equal. Default: the arguments. */
  readonly keyFn?: ((args: Args) => unknown) | undefined;
  readonly ttlMs?: number | undefined;
  readonly scope?: "run" | "global" | undefined;
}

export interface RetryOptions {
  readonly maxRetries?: number | undefined;
  /** Doubles with every retry. 0 retries immediately. Default 200. */
  readonly backoffMs?: number | undefined;
  readonly maxBackoffMs?: number | undefined;
  readonly shouldRetry?: ((error: Error, attempt: number) => Awaitable<boolean>) | undefined;
  /** Consecutive failures that open the circuit breaker. */
  readonly circuitBreakerThreshold?: number | undefined;
  readonly breaker?:
    | { readonly scope?: "run" | "shared" | undefined; readonly resetMs?: number | undefined }
    | undefined;
}

/** At most `max` calls of the tool at the same time, in all processes on the store. */
export interface ConcurrencyOptions<Args> {
  readonly max: number;
  /** Calls with equal keys share a limit, such as one per customer. Default: all calls of the tool. */
  readonly key?: ((args: Args) => string) | undefined;
}

/** At most `max` calls of the tool begin within `perMs`, in all processes on the store. */
export interface RateOptions<Args> {
  readonly max: number;
  readonly perMs: number;
  /** Calls with equal keys share a limit. Default: all calls of the tool. */
  readonly key?: ((args: Args) => string) | undefined;
}

export interface RedactOptions {
  readonly input?: readonly string[] | undefined;
  readonly output?: readonly string[] | undefined;
}

/** A command line argument that is parsed into several fields, such as `drive:/path`. */
export interface ParsedPositional {
  readonly name: string;
  /** The message of an error that it throws is shown on the command line. */
  readonly parse: (text: string) => Record<string, unknown>;
}

/** The tool's generated command line. */
export interface CliOptions {
  /** Fields, in order. Default: the required scalar fields. If the last one is an array, it takes all remaining words. */
  readonly positionals?: readonly (string | ParsedPositional)[] | ParsedPositional | undefined;
  /** Short options by field, such as `{ depth: "-d" }`; fields of nested objects are dotted. */
  readonly aliases?: Readonly<Record<string, string>> | undefined;
  /** Hides the tool in help. */
  readonly hidden?: boolean | undefined;
}

export type Reconciled<Output> =
  | { readonly happened: true; readonly output: Output }
  | { readonly happened: false }
  | undefined;

/** What `revert` receives besides the arguments. Its ids belong to the call that it reverts. */
export interface RevertFields<Output = unknown> {
  /** What the call returned. `undefined` if that is unknown. Redacted fields are marks. */
  readonly output: Output | undefined;
  /** `"unknown"`: the call failed after it began, or was interrupted. Its effect may not have happened. */
  readonly effectStatus: "succeeded" | "unknown";
  /** The `idempotencyKey` of the call. The revert has its own key. */
  readonly originalIdempotencyKey: string;
}

/** Declared as a method, so that options which are spread keep the type of their output. */
type RevertFunction<Args, Output, Capabilities, Result> = {
  call(args: Args, ctx: ToolContext<Capabilities> & RevertFields<Output>): Awaitable<Result>;
}["call"];

export type OnUnknown = "run" | "ask" | "tell" | "fail";

/** Everything but the schemas and the function itself. */
export interface ToolPolicies<Args, Output, Capabilities> {
  /** Changes something outside. Default `false`. */
  readonly sideEffect?: boolean | undefined;
  /** Running it again with the same input is safe. Default: the opposite of `sideEffect`. */
  readonly idempotent?: boolean | undefined;
  readonly group?: string | undefined;
  /** A call of this tool ends the agent loop. */
  readonly terminal?: boolean | { readonly status: string } | undefined;
  readonly needsApproval?:
    | boolean
    | ((args: Args, ctx: ToolContext<Capabilities>) => Awaitable<boolean>)
    | undefined;
  readonly approvalPrompt?:
    | string
    | ((args: Args, ctx: ToolContext<Capabilities>) => Awaitable<string>)
    | undefined;
  readonly approvalDefaults?: Readonly<Record<string, unknown>> | undefined;
  readonly approvalTtlMs?: number | undefined;
  readonly maxExecutionsPerRun?: number | undefined;
  readonly concurrency?: ConcurrencyOptions<Args> | undefined;
  readonly rate?: RateOptions<Args> | undefined;
  readonly cache?: boolean | CacheOptions<Args> | undefined;
  readonly retry?: RetryOptions | undefined;
  /** For one try. Default: no limit of its own. */
  readonly timeoutMs?: number | undefined;
  /** The business key: one effect per tool and key in the whole store, across runs. */
  readonly idempotencyKey?: ((args: Args) => string) | undefined;
  /** Checks outside whether the effect of an interrupted call happened. */
  readonly reconcile?:
    | ((args: Args, ctx: ToolContext<Capabilities>) => Awaitable<Reconciled<Output>>)
    | undefined;
  /** Whether an equal call in a later attempt returns the stored outcome or runs. */
  readonly replay?: "recorded" | "run" | undefined;
  /**
   * Whether `execute` passes `ctx.idempotencyKey` on to a service that honours it. Default: `true` if the source of
   * `execute` mentions the key, or a logged call of the tool has read it.
   */
  readonly acceptsIdempotencyKey?: boolean | undefined;
  /** How old an interrupted call must be before `reconcile` runs. Default 1,000. */
  readonly settleMs?: number | undefined;
  /**
   * What an equal call does after an earlier one was interrupted. `"run"`: it runs again. `"ask"`: it waits for approval.
   * `"tell"`: the model reads `outcome_unknown`; if no model reads the result, the call waits for approval. `"fail"`: it ends
   * with TOOL_OUTCOME_UNKNOWN. Default: "ask", or "run" for tools that are idempotent or pass their key on.
   */
  readonly onUnknown?: OnUnknown | undefined;
  /**
   * Undoes the effect of a call. A revert is a separate call: it is logged, and runs once for each call. The arguments
   * come from the log, in which marks replace redacted fields.
   */
  readonly revert?: RevertFunction<Args, Output, Capabilities, unknown> | undefined;
  /** Whether a revert waits for approval. Default `false`. */
  readonly revertNeedsApproval?: boolean | RevertFunction<Args, Output, Capabilities, boolean> | undefined;
  readonly costOf?: ((call: { readonly model: string; readonly usage: unknown }) => number) | undefined;
  readonly redact?: RedactOptions | undefined;
  readonly cli?: CliOptions | undefined;
}

/** A tool as a plain object: `const tool = { … } satisfies ToolDefinition<typeof input, typeof output>`. */
export interface ToolDefinition<
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
  Capabilities = ToolCapabilities,
> extends ToolPolicies<z.output<Input>, z.output<Output>, Capabilities> {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: Input;
  readonly outputSchema?: Output | undefined;
  readonly execute: (args: z.output<Input>, ctx: ToolContext<Capabilities>) => Awaitable<z.input<Output>>;
}

/**
 * The function of a tool. It returns the input of the output schema, or anything without one (`Output` is `never`). The
 * condition covers the whole function type, so that the compiler can infer a union of results.
 */
export type ExecuteFor<Input extends z.ZodType, Result, Output extends z.ZodType, Capabilities> = [
  Output,
] extends [never]
  ? (args: z.output<Input>, ctx: ToolContext<Capabilities>) => Awaitable<Result>
  : (args: z.output<Input>, ctx: ToolContext<Capabilities>) => Awaitable<z.input<Output>>;

/** The caller's result: the output of the output schema, or without one what `execute` returned. */
export type OutputFor<Output extends z.ZodType, Result> = [Output] extends [never]
  ? Awaited<Result>
  : z.output<Output>;

/**
 * The options of `defineTool`.
 * @typeParam Result what `execute` returns if there is no output schema
 * @typeParam Output the output schema, or `never`
 */
export interface DefineToolOptions<
  Input extends z.ZodType,
  Result = unknown,
  Output extends z.ZodType = never,
  Capabilities = ToolCapabilities,
> extends ToolPolicies<z.output<Input>, NoInfer<OutputFor<Output, Result>>, Capabilities> {
  readonly name: string;
  readonly description?: string | undefined;
  readonly schema: Input;
  readonly outputSchema?: Output | undefined;
  readonly execute: ExecuteFor<Input, Result, Output, Capabilities>;
}
