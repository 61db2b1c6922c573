/**
 * Stands in for esbuild in `src/load/compile.ts`, and keeps what it compiles for the other processes of the test run. Most
 * commands that the tests start load the same workflows and configurations, and to start the compiler takes a process as
 * long as all the rest.
 */
import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import type { transformSync as transform, TransformOptions } from "esbuild";

const FOLDER = process.env["NODE_COMPILE_CACHE"] ?? "";

function compiler(): { readonly transformSync: typeof transform; readonly version: string } {
  return createRequire(import.meta.url)("esbuild") as { transformSync: typeof transform; version: string };
}

export function transformSync(source: string, options: TransformOptions): { readonly code: string } {
  // Node finds the source next to the compiled file, so that a copy in another folder has the same text.
  const local = { ...options, sourcefile: basename(options.sourcefile ?? "") };
  const digest = createHash("sha256")
    .update(JSON.stringify([source, local]))
    .digest("hex");
  const file = join(FOLDER, `${digest}.compiled`);
  try {
    return { code: readFileSync(file, "utf8") };
  } catch {
    // It is compiled for the first time.
  }
  const { transformSync: compile } = compiler();
  try {
    const { code } = compile(source, local);
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, code);
    renameSync(unfinished, file);
    return { code };
  } catch {
    // Errors have the whole path of the file. Nothing is kept in a folder that this user cannot write to.
    return compile(source, options);
  }
}
