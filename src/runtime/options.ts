/** The options of a runtime, checked: a wrong one is refused when the runtime is made, not when a call fails. */
import { resolve } from "node:path";
import { DEFAULT_SETTINGS, type ToolSettings } from "../definition/context.ts";
import { ToolwrightError } from "../errors.ts";
import type { Limits } from "../invoke/host.ts";
import { DEFAULT_STORE, isPostgresAddress, type StoreOption } from "../store/open-store.ts";
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
  /** What every tool is handed in `ctx`; a function is called for each call, and its result is disposed after it. */
  readonly capabilities?:
    | Capabilities
    | ((call: {
        readonly runId: string;
        readonly toolName: string;
      }) => Capabilities | PromiseLike<Capabilities>)
    | undefined;
  /** Take a `tool-approval-response` in an AI SDK message history for a decision. Default `false`. */
  readonly trustMessageApprovals?: boolean | undefined;
  readonly clock?: Clock | undefined;
}

const LIMIT_NAMES = [
  "maxToolCalls",
  "maxParallelTools",
  "maxWallClockMs",
  "maxTotalOutputBytes",
  "maxCostUsd",
];
const MAX_OUTPUT_BYTES = 10_485_760;
const MAX_TIMEOUT_MS = 3_600_000;

const OPTION_NAMES: Readonly<Record<keyof RuntimeOptions, true>> = {
  store: true,
  rootDir: true,
  allowNetwork: true,
  maxOutputBytes: true,
  toolTimeoutMs: true,
  isolation: true,
  durability: true,
  limits: true,
  approvalTtlMs: true,
  capabilities: true,
  trustMessageApprovals: true,
  clock: true,
};

export function checkRuntimeOptions(options: RuntimeOptions): void {
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(OPTION_NAMES, name)) {
      throw refusal(name, `is not an option of a runtime; it takes ${Object.keys(OPTION_NAMES).join(", ")}`);
    }
  }
  const oneOf = (name: string, value: unknown, values: readonly string[]): void => {
    if (value !== undefined && !values.some((one) => one === value))
      throw refusal(name, `must be one of ${values.join(", ")}`);
  };
  oneOf("isolation", options.isolation, ["require", "auto", "off"]);
  oneOf("durability", options.durability, ["default", "process", "power"]);
  checkSettings({ maxOutputBytes: options.maxOutputBytes, timeoutMs: options.toolTimeoutMs });
  checkLimits(options.limits);
  checkPositive("approvalTtlMs", options.approvalTtlMs, Infinity);
}

export function checkSettings(settings: {
  maxOutputBytes?: number | undefined;
  timeoutMs?: number | undefined;
}): void {
  checkPositive("maxOutputBytes", settings.maxOutputBytes, MAX_OUTPUT_BYTES);
  checkPositive("toolTimeoutMs", settings.timeoutMs, MAX_TIMEOUT_MS);
}

export function checkLimits(limits: Limits | undefined): void {
  for (const [name, value] of Object.entries(limits ?? {})) {
    if (!LIMIT_NAMES.includes(name))
      throw refusal(`limits.${name}`, `is not a limit; there are ${LIMIT_NAMES.join(", ")}`);
    // With no place at all every call would wait for ever.
    const least = name === "maxParallelTools" ? 1 : 0;
    if (value !== undefined && !(typeof value === "number" && value >= least)) {
      throw refusal(`limits.${name}`, `must be a number of at least ${least}, not ${String(value)}`);
    }
  }
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

function checkPositive(name: string, value: number | undefined, max: number): void {
  if (value === undefined || (typeof value === "number" && value > 0 && value <= max)) return;
  throw refusal(
    name,
    `must be a number above 0${max === Infinity ? "" : ` and at most ${max}`}, not ${String(value)}`,
  );
}

export function refusal(name: string, problem: string): ToolwrightError {
  return new ToolwrightError("TOOL_OPTION_INVALID", `Option ${name} ${problem}.`, {
    details: { option: name },
  });
}
