/**
 * Makes the programs that the tests start quicker: there are thousands, and most of what each costs is to load our files.
 * All processes of one test run share the compiled code, which Node checks against its source, and resolve the imports
 * between our files without a search.
 */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import * as nodeModule from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

/** The user that some tests run as instead of root. */
export const OTHER_USER = 65_534;

const PROJECT = resolve(import.meta.dirname, "..");

/** From then on each process with this environment uses it: the workers of vitest and the processes that they start. */
export function prepareCompileCache(): { remove(): void } {
  // One folder per run: the tests create programs in folders with new names, so a lasting one would grow without end.
  const folder = mkdtempSync(join(tmpdir(), "toolwright-compiled-"));
  chmodSync(folder, 0o755);
  for (const name of ["own", "other"]) mkdirSync(join(folder, name));
  if (process.getuid?.() === 0) chownSync(join(folder, "other"), OTHER_USER, OTHER_USER);
  process.env["NODE_COMPILE_CACHE"] = join(folder, "own");
  return { remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The same for the preloaded module. */
export function prepareShortImports(): void {
  Object.assign(process.env, shortImports(PROJECT, process.env["NODE_OPTIONS"]));
}

/** For a program with its own environment. The other user must not be able to change the code that root runs. */
export function compileCacheOf(user: "own" | "other"): Readonly<Record<string, string>> {
  const own = process.env["NODE_COMPILE_CACHE"] ?? "";
  return { NODE_COMPILE_CACHE: user === "own" ? own : join(dirname(own), "other") };
}

/** @param root this project, in a location that the user of the program can read */
export function quickStart(user: "own" | "other", root: string = PROJECT): Readonly<Record<string, string>> {
  return { ...compileCacheOf(user), ...shortImports(root) };
}

function shortImports(root: string, options = ""): Readonly<Record<string, string>> {
  // Node before 22.15 has no such hooks.
  if (!("registerHooks" in nodeModule)) return {};
  return { NODE_OPTIONS: `${options} --import=${join(root, "test/programs/short-imports.ts")}`.trim() };
}
