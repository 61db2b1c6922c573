/** The programs of the crash tests. */
import { vi } from "vitest";
import { bundled } from "../started-programs.ts";
import { createCrashProgram, type CrashProgram, type CrashProgramOptions } from "../../src/testing/index.ts";

// A start takes a second on an idle machine, and a test starts several programs while other tests run.
vi.setConfig({ testTimeout: 120_000 });

/** @param name a file in `programs/` */
export function shopProgram(name: string, options: CrashProgramOptions = {}): CrashProgram {
  return createCrashProgram(bundled(new URL(`./programs/${name}.ts`, import.meta.url)), {
    timeoutMs: 60_000,
    ...options,
  });
}
