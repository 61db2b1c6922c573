/**
 * The settings of tools: their defaults, their checks, and the options that set them. The context of a call has one field for
 * each.
 */
import { BASH_TOOL_MAX_OUTPUT_BYTES, BASH_TOOL_MAX_TIMEOUT_MS } from "../sandbox/process/command-limits.ts";
import { aBoolean, aNumberIn, anIsolation, aText, type Check, listOf } from "./option-checks.ts";

/** The limits and paths that tools must respect. */
export interface ToolSettings {
  /** Sandbox root. Default: the working directory. */
  readonly rootDir: string;
  readonly allowNetwork: boolean;
  readonly maxOutputBytes: number;
  /** Process timeout of `bash` and `grep`. */
  readonly timeoutMs: number;
  readonly isolation: "require" | "auto" | "off";
  /** Files that tools cannot change and commands cannot see, such as the store. */
  readonly protectedPaths: readonly string[];
}

export const DEFAULT_SETTINGS = {
  allowNetwork: false,
  maxOutputBytes: 200_000,
  timeoutMs: 60_000,
  isolation: "auto",
  protectedPaths: [],
} as const satisfies Omit<ToolSettings, "rootDir">;

const outputBytes: Check = aNumberIn(Number.MIN_VALUE, BASH_TOOL_MAX_OUTPUT_BYTES);
const processTimeout: Check = aNumberIn(Number.MIN_VALUE, BASH_TOOL_MAX_TIMEOUT_MS);

/** As fields of a context. */
export const SETTING_CHECKS = {
  rootDir: aText,
  allowNetwork: aBoolean,
  maxOutputBytes: outputBytes,
  timeoutMs: processTimeout,
  isolation: anIsolation,
  protectedPaths: listOf(aText),
} as const satisfies Readonly<Record<keyof ToolSettings, Check>>;

/** As options of a runtime, of a workflow run and of the config. Each of them checks `rootDir` itself. */
export interface SettingOptions {
  readonly allowNetwork?: boolean | undefined;
  readonly maxOutputBytes?: number | undefined;
  readonly toolTimeoutMs?: number | undefined;
  readonly isolation?: ToolSettings["isolation"] | undefined;
}

export const SETTING_OPTIONS = {
  allowNetwork: aBoolean,
  maxOutputBytes: outputBytes,
  toolTimeoutMs: processTimeout,
  isolation: anIsolation,
} as const satisfies Readonly<Record<keyof SettingOptions, Check>>;

/** Those of the given options that set a setting. */
export function givenSettingOptions(options: SettingOptions): SettingOptions {
  const entries = Object.entries(options).filter(
    ([name, value]) => Object.hasOwn(SETTING_OPTIONS, name) && value !== undefined,
  );
  return Object.fromEntries(entries);
}

export function toSettings(options: SettingOptions): Partial<ToolSettings> {
  const { toolTimeoutMs: timeoutMs, ...rest } = givenSettingOptions(options);
  return (timeoutMs === undefined ? rest : { ...rest, timeoutMs }) as Partial<ToolSettings>;
}
