/** What an author may say about a tool, in the three spellings that are one: `defineTool`, `createTool`, `ToolDefinition`. */
import type { z } from "zod";
import type { ToolCapabilities, ToolContext } from "./context.ts";

// `Promise` beside `PromiseLike`: the compiler then compares what they hold, and reports that instead of `then`.
export type Awaitable<T> = T | Promise<T> | PromiseLike<T>;

export interface CacheOptions<Args> {
  /** What makes two calls equal. Default: the arguments. */
  readonly keyFn?: ((args: Args) => unknown) | undefined;
  readonly ttlMs?: number | undefined;
  readonly scope?: "run" | "global" | undefined;
}

export interface RetryOptions {
  readonly maxRetries?: number | undefined;
  /** Doubles with every retry. 0 retries at once. Default 200. */
  readonly backoffMs?: number | undefined;
  readonly maxBackoffMs?: number | undefined;
  readonly shouldRetry?: ((error: Error, attempt: number) => Awaitable<boolean>) | undefined;
  /** Consecutive failures that switch the tool off. */
  readonly circuitBreakerThreshold?: number | undefined;
  readonly breaker?:
    | { readonly scope?: "run" | "shared" | undefined; readonly resetMs?: number | undefined }
    | undefined;
}

export interface RedactOptions {
  readonly input?: readonly string[] | undefined;
  readonly output?: readonly string[] | undefined;
}

/** A text on the command line that stands for several fields, such as `drive:/path`. */
export interface ParsedPositional {
  readonly name: string;
  /** What it throws is told to whoever typed the text. */
  readonly parse: (text: string) => Record<string, unknown>;
}

/** How the generated command line spells the tool. */
export interface CliOptions {
  /** Fields, in order. Default: the required ones that are scalars. A list in the last place takes all words that are left. */
  readonly positionals?: readonly (string | ParsedPositional)[] | ParsedPositional | undefined;
  /** Short options by field, such as `{ depth: "-d" }`; fields of nested objects are dotted. */
  readonly aliases?: Readonly<Record<string, string>> | undefined;
  /** Not shown in help. */
  readonly hidden?: boolean | undefined;
}

export type Reconciled<Output> =
  | { readonly happened: true; readonly output: Output }
  | { readonly happened: false }
  | undefined;

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
  readonly cache?: boolean | CacheOptions<Args> | undefined;
  readonly retry?: RetryOptions | undefined;
  /** For one try. Default: no limit of its own. */
  readonly timeoutMs?: number | undefined;
  /** One effect per tool and business key in the whole store, whatever the run. */
  readonly idempotencyKey?: ((args: Args) => string) | undefined;
  /** Asks the outside world whether an interrupted call happened. */
  readonly reconcile?:
    | ((args: Args, ctx: ToolContext<Capabilities>) => Awaitable<Reconciled<Output>>)
    | undefined;
  /** What an equal call in a later attempt gets. */
  readonly replay?: "recorded" | "run" | undefined;
  /**
   * Whether `execute` passes `ctx.idempotencyKey` on to a service that honours it. Default: `true` if the text of
   * `execute` names the key, or a logged call of the tool has read it.
   */
  readonly acceptsIdempotencyKey?: boolean | undefined;
  /** How old an interrupted call must be before `reconcile` is asked. Default 1,000. */
  readonly settleMs?: number | undefined;
  /**
   * What happens to an equal call when an earlier one was interrupted. `"run"`: it runs again. `"ask"`: a person decides.
   * `"tell"`: the model reads `outcome_unknown`; where no model reads the answer, a person decides. `"fail"`: it ends with
   * TOOL_OUTCOME_UNKNOWN. Default: "ask", or "run" for tools that are idempotent or pass their key on.
   */
  readonly onUnknown?: OnUnknown | undefined;
  readonly costOf?: ((call: { readonly model: string; readonly usage: unknown }) => number) | undefined;
  readonly redact?: RedactOptions | undefined;
  readonly cli?: CliOptions | undefined;
}

/** The seed's plain-object spelling: `const tool = { … } satisfies ToolDefinition<typeof input, typeof output>`. */
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
 * The function of a tool. It returns what the output schema takes, or anything where there is none (`Output` is `never`).
 * The condition is about the whole function: the compiler infers a union of results through it.
 */
export type ExecuteFor<Input extends z.ZodType, Result, Output extends z.ZodType, Capabilities> = [
  Output,
] extends [never]
  ? (args: z.output<Input>, ctx: ToolContext<Capabilities>) => Awaitable<Result>
  : (args: z.output<Input>, ctx: ToolContext<Capabilities>) => Awaitable<z.input<Output>>;

/** What a caller gets: what the output schema makes of the result, or the result itself. */
export type OutputFor<Output extends z.ZodType, Result> = [Output] extends [never]
  ? Awaited<Result>
  : z.output<Output>;

/**
 * The options of `defineTool`.
 * @typeParam Result what `execute` returns, where there is no output schema
 * @typeParam Output the output schema, `never` where there is none
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
