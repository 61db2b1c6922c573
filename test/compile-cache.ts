/**
 * Compiled code that all processes of one test run share. Stripping types from the sources and compiling them is most of
 * what the start of a program costs, and the tests start thousands. Node checks each entry against its source.
 */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** The user that some tests run as instead of root. */
export const OTHER_USER = 65_534;

/** Afterwards each process with this environment uses it: the workers of vitest, and what they start. */
export function prepareCompileCache(): { remove(): void } {
  // One folder per run: the tests create programs in folders with new names, so a lasting one would grow without end.
  const folder = mkdtempSync(join(tmpdir(), "toolwright-compiled-"));
  chmodSync(folder, 0o755);
  for (const name of ["own", "other"]) mkdirSync(join(folder, name));
  if (process.getuid?.() === 0) chownSync(join(folder, "other"), OTHER_USER, OTHER_USER);
  process.env["NODE_COMPILE_CACHE"] = join(folder, "own");
  return { remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** For a program with an environment of its own. The other user must not be able to change the code that root runs. */
export function compileCacheOf(user: "own" | "other"): { readonly NODE_COMPILE_CACHE: string } {
  const own = process.env["NODE_COMPILE_CACHE"] ?? "";
  return { NODE_COMPILE_CACHE: user === "own" ? own : join(dirname(own), "other") };
}
