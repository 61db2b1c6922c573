/** The programs of the crash tests. Node keeps their compiled code, since each is started many times. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCrashProgram, type CrashProgram, type CrashProgramOptions } from "../../src/testing/index.ts";

/** @param name a file in `programs/` */
export function shopProgram(name: string, options: CrashProgramOptions = {}): CrashProgram {
  return createCrashProgram(new URL(`./programs/${name}.ts`, import.meta.url), {
    ...options,
    env: { NODE_COMPILE_CACHE: join(tmpdir(), "toolwright-test-compile-cache") },
  });
}
