/** Options and results of `createSmartAgent`. An invalid option is refused when the agent is created. */
import type { z } from "zod";
import {
  aBoolean,
  aFullText,
  aFunction,
  aNumber,
  anInteger,
  aRuntime,
  aSignal,
  aText,
  aToolSource,
  type Check,
  describe,
  either,
  fields,
  oneOf,
  Problem,
  valuesOf,
} from "../definition/option-checks.ts";
import { optionTable, type OptionTable } from "../definition/option-table.ts";
import { zodSchema } from "../definition/check-tool-options.ts";
import { LIMIT_CHECKS } from "../runtime/options.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { ToolSource } from "../tool/from-tool.ts";
import type { SmartAgentEvent } from "./events.ts";
import type { AgentMessage } from "../model/messages.ts";
import type { AgentState, AgentUsage } from "./state.ts";

export interface SmartAgentLimits {
  readonly maxToolCalls?: number | undefined;
  readonly maxParallelTools?: number | undefined;
  /** The size of the context window, in tokens. Default 128,000. */
  readonly maxContextTokens?: number | undefined;
  readonly maxTotalOutputTokens?: number | undefined;
  /** The limit for all results of tools together. */
  readonly maxTotalOutputBytes?: number | undefined;
  /** Needs `costOf`, or tools that report their cost. */
  readonly maxCostUsd?: number | undefined;
  readonly maxWallClockMs?: number | undefined;
}

/** How results of a tool are shortened when the window fills. */
export type Retention = "keep_full" | "keep_structured" | "summarize_archive" | "drop";

export interface ToolRetention {
  readonly output?: Retention | undefined;
  /** `digest`: long texts in the arguments are shortened as well. Default `"digest"`. */
  readonly input?: "keep" | "digest" | undefined;
}

export interface SmartAgentOptions<Output extends z.ZodType = z.ZodType> {
  readonly name?: string | undefined;
  /** An AI SDK `LanguageModel`, or anything with `invoke(messages)`. */
  readonly model: unknown;
  readonly tools?: ToolSource | undefined;
  readonly systemPrompt?: string | undefined;
  readonly outputSchema?: Output | undefined;
  /** Default: a runtime on `toolwright.db` for each call. */
  readonly runtime?: Runtime | undefined;
  readonly onEvent?: ((event: SmartAgentEvent) => void) | undefined;
  readonly limits?: SmartAgentLimits | undefined;
  readonly planning?: { readonly mode?: "todo" | "off" | undefined } | undefined;
  /** Whether the model summarizes messages that do not fit. `false` replaces them by a list of handles. Default `true`. */
  readonly summarization?: boolean | { readonly summaryTriggerTokens?: number | undefined } | undefined;
  readonly toolResponses?:
    | {
        /** A longer result is cut immediately, with a handle. */
        readonly maxToolResponseChars?: number | undefined;
        readonly defaultPolicy?: Retention | undefined;
        readonly retentionByTool?: Readonly<Record<string, Retention | ToolRetention>> | undefined;
      }
    | undefined;
  /** Counts the tokens of a text. Default: an installed tokenizer, else an estimate. */
  readonly countTokens?: ((text: string) => number) | undefined;
  /** The cost of a response, in US dollars. */
  readonly costOf?:
    | ((answer: { readonly model: string; readonly usage: AgentUsageOfAnswer }) => number)
    | undefined;
}

export interface AgentUsageOfAnswer {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
}

export interface InvokeOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: SmartAgentEvent) => void) | undefined;
  /** Emits pieces of responses as `stream` events. Default `false`. */
  readonly stream?: boolean | undefined;
}

/** Why an invoke stopped. After `approval`, an invoke with its state or its run id resumes it. */
export type AgentStop =
  | "answer"
  | "output"
  | "terminal-tool"
  | "approval"
  | "budget"
  | "cut"
  | "refused"
  | "no-output";

export interface InvokeResult<Output = unknown> {
  readonly runId: string;
  readonly status: AgentState["status"];
  readonly stop: AgentStop;
  /** The last text of the model. */
  readonly content: string;
  /** The input and the added messages. */
  readonly messages: AgentMessage[];
  /** Present when the answer matches `outputSchema`. */
  readonly output?: Output;
  /** Why the answer does not match. */
  readonly outputError?: string;
  /** The exceeded budget. */
  readonly budget?: string;
  readonly metadata: { readonly usage: AgentUsage };
  readonly state: AgentState;
}

const RETENTION = oneOf("keep_full", "keep_structured", "summarize_archive", "drop");

const aRetention: Check = either(
  "a policy, or { output, input }",
  RETENTION,
  fields({ output: RETENTION, input: oneOf("keep", "digest") }),
);

const CHECKS: Readonly<Record<keyof SmartAgentOptions, Check>> = {
  name: aFullText,
  // The model is resolved on first use; a value that cannot be a model is refused now.
  model: (value, field) => {
    const isModel = typeof value === "string" || hasMethod(value, "doGenerate") || hasMethod(value, "invoke");
    if (!isModel)
      throw new Problem(
        field,
        `must be an AI SDK model, or an object with invoke(messages), not ${describe(value)}.`,
      );
  },
  tools: aToolSource,
  systemPrompt: aText,
  outputSchema: zodSchema,
  runtime: aRuntime,
  onEvent: aFunction,
  limits: fields({
    maxToolCalls: LIMIT_CHECKS.maxToolCalls,
    maxParallelTools: LIMIT_CHECKS.maxParallelTools,
    maxWallClockMs: LIMIT_CHECKS.maxWallClockMs,
    maxCostUsd: LIMIT_CHECKS.maxCostUsd,
    maxTotalOutputTokens: LIMIT_CHECKS.maxTotalOutputTokens,
    maxTotalOutputBytes: LIMIT_CHECKS.maxTotalOutputBytes,
    maxContextTokens: aNumber(1),
  } satisfies Record<keyof SmartAgentLimits, Check>),
  planning: fields({ mode: oneOf("todo", "off") }),
  summarization: either(
    "true, false or { summaryTriggerTokens }",
    aBoolean,
    fields({ summaryTriggerTokens: aNumber(1) }),
  ),
  toolResponses: fields({
    maxToolResponseChars: anInteger(1),
    defaultPolicy: RETENTION,
    retentionByTool: valuesOf(aRetention),
  }),
  countTokens: aFunction,
  costOf: aFunction,
};

function hasMethod(value: unknown, name: string): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as Record<string, unknown>)[name] === "function"
  );
}

export const AGENT_OPTIONS: OptionTable = optionTable<SmartAgentOptions>("createSmartAgent", CHECKS, {
  required: ["model"],
  example: "{ model, tools }",
});

export const INVOKE_OPTIONS: OptionTable = optionTable<InvokeOptions>("invoke", {
  signal: aSignal,
  onEvent: aFunction,
  stream: aBoolean,
});
