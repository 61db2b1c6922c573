/**
 * Builds the environment of a command: an allow-list of names, and a PATH where the command cannot have planted
 * anything. It must never start from a copy of `process.env`.
 */
import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { isInside } from "../is-inside.ts";

export const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export interface CleanEnvironmentOptions {
  /** The host's environment. */
  readonly from: NodeJS.ProcessEnv;
  /** Both spellings of the sandbox root. PATH entries inside either are removed. */
  readonly roots: readonly string[];
  /** Variables that the caller names. They are set as given, except PATH, which is cleaned too. */
  readonly extra?: Readonly<Record<string, string>> | undefined;
}

export function cleanEnvironment({
  from,
  roots,
  extra = {},
}: CleanEnvironmentOptions): Record<string, string> {
  const clean: Record<string, string> = {};
  // Each read of `process.env` calls into native code, so read only the values that are needed.
  for (const name of Object.keys(from)) {
    const value = KEPT.has(name) || name.startsWith("LC_") ? from[name] : undefined;
    if (value !== undefined) clean[name] = value;
  }
  Object.assign(clean, extra);
  clean["HOME"] ??= homedir();
  clean["PATH"] = cleanPath(clean["PATH"], roots);
  return clean;
}

/** PATH without relative entries and without entries inside the root. The system's default if nothing is left. */
export function cleanPath(path: string | undefined, roots: readonly string[]): string {
  const entries = (path ?? "").split(":").filter((entry) => {
    return isAbsolute(entry) && !roots.some((root) => isInside(resolve(entry), root));
  });
  return entries.length === 0 ? DEFAULT_PATH : [...new Set(entries.map((entry) => resolve(entry)))].join(":");
}

const KEPT = new Set([
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "TERM",
  "TZ",
  "COLORTERM",
  "NO_COLOR",
  "FORCE_COLOR",
  "CI",
]);
