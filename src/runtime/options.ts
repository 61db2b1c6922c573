/** The options of a runtime. An invalid one is refused when the runtime is created, not when a call fails. */
import { resolve } from "node:path";
import { BASE_CONTEXT_FIELDS } from "../definition/context.ts";
import {
  aBoolean,
  aFunction,
  aLanguageModel,
  aNumber,
  aNumberIn,
  anEmbeddingModel,
  anId,
  aRunId,
  anInstance,
  anObject,
  aStore,
  aText,
  aToolSource,
  type Check,
  either,
  fields,
  must,
  oneOf,
  Problem,
} from "../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../definition/option-table.ts";
import type { EmbeddingModelLike } from "../definition/models.ts";
import {
  DEFAULT_SETTINGS,
  SETTING_OPTIONS,
  type ToolSettings,
  toSettings,
} from "../definition/tool-settings.ts";
import { ToolwrightError } from "../errors.ts";
import type { Limits } from "../invoke/host.ts";
import type { TelemetryOption } from "../invoke/telemetry.ts";
import { DEFAULT_STORE, isPostgresAddress, type StoreOption } from "../store/open-store.ts";
import type { ToolSource } from "../tool/from-tool.ts";
import type { Clock } from "../util/clock.ts";

/** The option of a runtime that replays. Not for users. */
export const REPLAY: unique symbol = Symbol.for("toolwright.runtime.replay");

export type Capabilities = Readonly<Record<string, unknown>>;

export interface RuntimeOptions {
  /** A file, `":memory:"`, `"postgres://…"` or an open store. Default `"toolwright.db"`. */
  readonly store?: StoreOption | undefined;
  /** Sandbox root. Default: the working directory. */
  readonly rootDir?: string | undefined;
  readonly allowNetwork?: boolean | undefined;
  /** The most bytes of a tool's output, and of a value in the log. Default 200,000. */
  readonly maxOutputBytes?: number | undefined;
  /** Process timeout of `bash` and `grep`. Default 60,000. */
  readonly toolTimeoutMs?: number | undefined;
  readonly isolation?: ToolSettings["isolation"] | undefined;
  /**
   * `"default"`: the intent of a non-idempotent side effect survives a power loss, and everything survives the death of the
   * process. `"process"`: everything survives the death of the process. `"power"`: everything survives a power loss.
   */
  readonly durability?: "default" | "process" | "power" | undefined;
  readonly limits?: Limits | undefined;
  /** How long approval requests are open, unless the tool sets it. Default: no limit. */
  readonly approvalTtlMs?: number | undefined;
  /**
   * `"keep"`: runs that start with this runtime keep their model responses and requests after their end, redacted, so that
   * `toolwright record` can make a fixture of them. Default `"off"`: they are deleted with the end of their task.
   */
  readonly recording?: "keep" | "off" | undefined;
  /** `"git"`: each successful side effect leaves a commit of the work tree under `refs/toolwright/`. Default `"off"`. */
  readonly snapshots?: "git" | "off" | undefined;
  /**
   * Fields that are added to `ctx` of every tool. An object is shared by all calls and never disposed. A function runs for
   * each call, and its result is disposed after the call, except for values in `sharedCapability(value)`.
   */
  readonly capabilities?:
    | Capabilities
    | ((call: {
        readonly runId: string;
        readonly toolName: string;
      }) => Capabilities | PromiseLike<Capabilities>)
    | undefined;
  /** Whether an approval in an AI SDK message history (`tool-approval-response`) counts. Default `false`. */
  readonly trustMessageApprovals?: boolean | undefined;
  /** The model of `capabilities_refresh`: an AI SDK language model, or anything with `invoke(messages)`. */
  readonly model?: unknown;
  /** The model for semantic search of context items: an AI SDK embedding model. */
  readonly embeddingModel?: EmbeddingModelLike | undefined;
  /** The tools of the project, for its inventory. Tools that are not listed can be called too. */
  readonly tools?: ToolSource | undefined;
  readonly clock?: Clock | undefined;
  /** Traces and metrics: `openTelemetry()` from `toolwright/otel`. Default: none. */
  readonly telemetry?: TelemetryOption | undefined;
}

export const LIMIT_CHECKS = {
  maxToolCalls: aNumber(0),
  // With 0 slots every call would wait forever.
  maxParallelTools: aNumber(1),
  maxWallClockMs: aNumber(0),
  maxTotalOutputBytes: aNumber(0),
  maxCostUsd: aNumber(0),
  maxTotalOutputTokens: aNumber(0),
} satisfies Record<keyof Limits, Check>;

export const LIMITS: Check = fields(LIMIT_CHECKS);

export const RECORDING: Check = oneOf("keep", "off");

/** Reserved names of `ctx`: a capability with such a name would never reach a tool. */
export const noContextFields: Check = (value, field) => {
  for (const name of Object.keys(value as object)) {
    if (!(name in BASE_CONTEXT_FIELDS)) continue;
    throw new Problem(
      `${field}.${name}`,
      `is reserved: every tool context has its own "${name}". Rename the capability.`,
    );
  }
};

export const aTelemetry: Check = must(
  (value) =>
    typeof value === "object" && value !== null && "connect" in value && typeof value.connect === "function",
  "what openTelemetry() from toolwright/otel returns",
);

export const RUNTIME_OPTIONS: OptionTable = optionTable<RuntimeOptions>(
  "createRuntime",
  {
    store: aStore,
    rootDir: aText,
    ...SETTING_OPTIONS,
    durability: oneOf("default", "process", "power"),
    limits: LIMITS,
    approvalTtlMs: aNumberIn(Number.MIN_VALUE, Infinity),
    recording: RECORDING,
    snapshots: oneOf("git", "off"),
    capabilities: (value, field) => {
      either("an object or a function", anObject, aFunction)(value, field);
      if (typeof value !== "function") noContextFields(value, field);
    },
    trustMessageApprovals: aBoolean,
    model: aLanguageModel,
    embeddingModel: anEmbeddingModel,
    tools: aToolSource,
    clock: either("an object with now() and sleep()", (value, field) => {
      anInstance(value, field);
      const clock = value as Record<string, unknown>;
      for (const name of ["now", "sleep"]) aFunction(clock[name], field);
      if (clock["monotonic"] !== undefined) aFunction(clock["monotonic"], field);
    }),
    telemetry: aTelemetry,
  },
  { example: '{ store: "app.db" }' },
);

export function checkRuntimeOptions(options: RuntimeOptions): void {
  checkOptions(RUNTIME_OPTIONS, options);
}

export function settingsOf(options: RuntimeOptions): ToolSettings {
  return {
    rootDir: resolve(options.rootDir ?? "."),
    ...DEFAULT_SETTINGS,
    ...toSettings(options),
    protectedPaths: storeFiles(options.store),
  };
}

/** An agent must not approve its own calls, so its tools cannot reach the store. */
function storeFiles(store: StoreOption = DEFAULT_STORE): string[] {
  const path = typeof store === "string" ? store : store.path;
  return path === undefined || path === ":memory:" || isPostgresAddress(path) ? [] : [resolve(path)];
}

export function checkId(name: string, id: unknown): void {
  try {
    if (name === "runId") aRunId(id, name);
    else anId(id, name);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw refusal(name, error.message);
  }
}

export function refusal(name: string, problem: string): ToolwrightError {
  const sentence = /[.?]$/.test(problem) ? problem : `${problem}.`;
  return new ToolwrightError("TOOL_OPTION_INVALID", `Option ${name} ${sentence}`, {
    details: { option: name },
  });
}
