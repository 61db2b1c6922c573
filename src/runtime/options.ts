/** The options of a runtime, checked: a wrong one is refused when the runtime is made, not when a call fails. */
import { resolve } from "node:path";
import { DEFAULT_SETTINGS, type ToolSettings } from "../definition/context.ts";
import {
  aBoolean,
  aFullText,
  aFunction,
  aNumber,
  aNumberIn,
  anObject,
  aText,
  type Check,
  either,
  fields,
  oneOf,
  Problem,
  refuseUnknown,
  noContextFields,
} from "../definition/option-checks.ts";
import { anEmbeddingModel, aLanguageModel, type EmbeddingModelLike } from "../definition/models.ts";
import { ToolwrightError } from "../errors.ts";
import { isStorableText, isTooLongForId, LONGEST_ID_BYTES } from "../util/storable-text.ts";
import type { Limits } from "../invoke/host.ts";
import { DEFAULT_STORE, isPostgresAddress, type StoreOption } from "../store/open-store.ts";
import type { ToolLike } from "../tool/from-tool.ts";
import type { Clock } from "../util/clock.ts";

export type Capabilities = Readonly<Record<string, unknown>>;

export interface RuntimeOptions {
  /** A file, `":memory:"`, `"postgres://…"` or an open store. Default `"toolwright.db"`. */
  readonly store?: StoreOption | undefined;
  /** Sandbox root. Default: the working directory. */
  readonly rootDir?: string | undefined;
  readonly allowNetwork?: boolean | undefined;
  /** What the log and a tool's output hold at most. Default 200,000. */
  readonly maxOutputBytes?: number | undefined;
  /** Process timeout of `bash` and `grep`. Default 60,000. */
  readonly toolTimeoutMs?: number | undefined;
  readonly isolation?: ToolSettings["isolation"] | undefined;
  /**
   * `"default"`: the intent of a non-idempotent side effect survives a loss of power, everything the death of the
   * process. `"process"`: everything the latter. `"power"`: everything the former.
   */
  readonly durability?: "default" | "process" | "power" | undefined;
  readonly limits?: Limits | undefined;
  /** How long requests for approval are open, unless the tool says. Default: for ever. */
  readonly approvalTtlMs?: number | undefined;
  /** `"git"`: each successful side effect leaves a commit of the work tree under `refs/toolwright/`. Default `"off"`. */
  readonly snapshots?: "git" | "off" | undefined;
  /**
   * What every tool gets in `ctx`. An object is shared by all calls and never disposed. A function is called for each call,
   * and what it returns is disposed after it, except for values in `sharedCapability(value)`.
   */
  readonly capabilities?:
    | Capabilities
    | ((call: {
        readonly runId: string;
        readonly toolName: string;
      }) => Capabilities | PromiseLike<Capabilities>)
    | undefined;
  /** Take a `tool-approval-response` in an AI SDK message history for a decision. Default `false`. */
  readonly trustMessageApprovals?: boolean | undefined;
  /** What `capabilities_refresh` asks: an AI SDK language model, or anything with `invoke(messages)`. */
  readonly model?: unknown;
  /** What makes context items found by their meaning: an AI SDK embedding model. */
  readonly embeddingModel?: EmbeddingModelLike | undefined;
  /** The tools of the project, for its inventory. Calls need not name any here. */
  readonly tools?: readonly ToolLike[] | Readonly<Record<string, ToolLike>> | undefined;
  readonly clock?: Clock | undefined;
}

const MAX_OUTPUT_BYTES = 10_485_760;
const MAX_TIMEOUT_MS = 3_600_000;

const aStorePath: Check = (value, field) => {
  aFullText(value, field);
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(String(value)) && !isPostgresAddress(String(value))) {
    throw new Problem(field, "must be a path or a postgres:// address.");
  }
};

const anOpenStore: Check = (value, field) => {
  anObject(value, field);
  for (const name of ["transaction", "read", "close"])
    aFunction((value as Record<string, unknown>)[name], field);
};

const positive = (max: number): Check => aNumberIn(Number.MIN_VALUE, max);

export const LIMIT_CHECKS = {
  maxToolCalls: aNumber(0),
  // With no place at all every call would wait for ever.
  maxParallelTools: aNumber(1),
  maxWallClockMs: aNumber(0),
  maxTotalOutputBytes: aNumber(0),
  maxCostUsd: aNumber(0),
  maxTotalOutputTokens: aNumber(0),
} satisfies Record<keyof Limits, Check>;

const LIMITS = fields(LIMIT_CHECKS);

const OPTIONS: Readonly<Record<keyof RuntimeOptions, Check>> = {
  store: either("a path, a postgres:// address or an open store", aStorePath, anOpenStore),
  rootDir: aText,
  allowNetwork: aBoolean,
  maxOutputBytes: positive(MAX_OUTPUT_BYTES),
  toolTimeoutMs: positive(MAX_TIMEOUT_MS),
  isolation: oneOf("require", "auto", "off"),
  durability: oneOf("default", "process", "power"),
  limits: LIMITS,
  approvalTtlMs: positive(Infinity),
  snapshots: oneOf("git", "off"),
  capabilities: (value, field) => {
    either("an object or a function", anObject, aFunction)(value, field);
    if (typeof value !== "function") noContextFields(value, field);
  },
  trustMessageApprovals: aBoolean,
  model: aLanguageModel,
  embeddingModel: anEmbeddingModel,
  tools: either("a list of tools, or an object of tools by name", anObject, (value, field) => {
    if (!Array.isArray(value)) throw new Problem(field, "must be a list.");
  }),
  clock: either("an object with now() and sleep()", (value, field) => {
    anObject(value, field);
    const clock = value as Record<string, unknown>;
    for (const name of ["now", "sleep"]) aFunction(clock[name], field);
    if (clock["monotonic"] !== undefined) aFunction(clock["monotonic"], field);
  }),
};

export function checkRuntimeOptions(options: RuntimeOptions): void {
  if (typeof options !== "object" || options === null) {
    throw refusal(
      "of a runtime",
      `must be an object such as { store: "app.db" }, not ${JSON.stringify(options)}`,
    );
  }
  asRefusal(() => {
    refuseUnknown(options, Object.keys(OPTIONS), "", "a runtime");
    for (const [name, check] of Object.entries(OPTIONS) as [keyof RuntimeOptions, Check][]) {
      if (options[name] !== undefined) check(options[name], name);
    }
  });
}

export function checkSettings(settings: {
  maxOutputBytes?: number | undefined;
  timeoutMs?: number | undefined;
}): void {
  asRefusal(() => {
    if (settings.maxOutputBytes !== undefined)
      OPTIONS.maxOutputBytes(settings.maxOutputBytes, "maxOutputBytes");
    if (settings.timeoutMs !== undefined) OPTIONS.toolTimeoutMs(settings.timeoutMs, "toolTimeoutMs");
  });
}

export function checkLimits(limits: Limits | undefined): void {
  if (limits !== undefined) asRefusal(() => LIMITS(limits, "limits"));
}

export function settingsOf(options: RuntimeOptions): ToolSettings {
  return {
    rootDir: resolve(options.rootDir ?? "."),
    allowNetwork: options.allowNetwork ?? DEFAULT_SETTINGS.allowNetwork,
    maxOutputBytes: options.maxOutputBytes ?? DEFAULT_SETTINGS.maxOutputBytes,
    timeoutMs: options.toolTimeoutMs ?? DEFAULT_SETTINGS.timeoutMs,
    isolation: options.isolation ?? DEFAULT_SETTINGS.isolation,
    protectedPaths: storeFiles(options.store),
  };
}

/** An agent must not approve its own calls: the store is out of its reach. */
function storeFiles(store: StoreOption = DEFAULT_STORE): string[] {
  const path = typeof store === "string" ? store : store.path;
  return path === undefined || path === ":memory:" || isPostgresAddress(path) ? [] : [resolve(path)];
}

export function asRefusal(check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw refusal(error.field, error.message);
  }
}

export function checkId(name: string, id: unknown): void {
  if (typeof id !== "string" || id === "") throw refusal(name, "must be a text that is not empty");
  if (!isStorableText(id)) throw refusal(name, "must not hold U+0000 or half a surrogate pair");
  if (isTooLongForId(id)) throw refusal(name, `must be at most ${LONGEST_ID_BYTES} bytes long`);
}

export function refusal(name: string, problem: string): ToolwrightError {
  const sentence = /[.?]$/.test(problem) ? problem : `${problem}.`;
  return new ToolwrightError("TOOL_OPTION_INVALID", `Option ${name} ${sentence}`, {
    details: { option: name },
  });
}

const IDENTITY = ["runId", "nodeId", "iteration", "loopPath", "attempt"];

const KNOWN = {
  "runtime.call": [...IDENTITY, "callKey", "toolCallId", "signal"],
  "runtime.run": [...IDENTITY, "turn", "limits", "signal", "settings"],
  "runtime.run settings": [
    "rootDir",
    "allowNetwork",
    "maxOutputBytes",
    "timeoutMs",
    "isolation",
    "protectedPaths",
  ],
  "runtime.gc": ["olderThanMs", "replayOlderThanMs", "dryRun"],
  "runtime.calls": ["runId", "nodeId", "toolName", "status", "limit"],
  "runtime.approvals": ["runId", "status", "limit"],
  "a decision": [
    "approved",
    "resolution",
    "output",
    "approvedArgs",
    "decidedBy",
    "comment",
    "happened",
    "argsHash",
  ],
} as const;

/** A misspelt option would cost what it was meant to bring: a run id that is not one, arguments that were not edited. */
export function checkNames(options: unknown, whole: keyof typeof KNOWN): void {
  if (typeof options !== "object" || options === null) {
    throw refusal(`of ${whole}`, `must be an object, not ${options === null ? "null" : typeof options}`);
  }
  for (const name of Object.keys(options)) {
    if (!(KNOWN[whole] as readonly string[]).includes(name)) {
      asRefusal(() => refuseUnknown(options, KNOWN[whole], "", whole));
    }
  }
}

export function checkSignal(signal: unknown): void {
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw refusal("signal", "must be an AbortSignal");
}
