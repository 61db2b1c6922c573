/** Runs a program in its own process, kills it at a crash point or after a delay, and runs it again. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { aNumber, anInteger, aText, listOf, oneOf, valuesOf } from "../../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../../definition/option-table.ts";
import { preloadFlags } from "../../load/preload.ts";
import { CRASH_POINTS, CRASH_VARIABLE, type CrashPoint } from "./crash-point.ts";

export interface CrashProgramOptions {
  readonly args?: readonly string[] | undefined;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The timeout: a slower program is killed, and `run` rejects. Default 30,000. */
  readonly timeoutMs?: number | undefined;
}

export interface CrashRunOptions {
  /** The crash point. Without this and `killAfterMs` the program runs to its end. */
  readonly crashAt?: CrashPoint | undefined;
  /** Which occurrence of the crash point in this process, from 1. Default 1. */
  readonly occurrence?: number | undefined;
  /** Kills the program this long after it created its runtime. */
  readonly killAfterMs?: number | undefined;
  /** Replaces the arguments of the program. */
  readonly args?: readonly string[] | undefined;
}

export interface ProgramRun {
  /** `false` when the program ended before it reached the crash point. */
  readonly crashed: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CrashProgram {
  /** Rejects when the program fails, or times out. */
  run(options?: CrashRunOptions): Promise<ProgramRun>;
}

export const CRASH_PROGRAM_OPTIONS: OptionTable = optionTable<CrashProgramOptions>("createCrashProgram", {
  args: listOf(aText),
  env: valuesOf(aText),
  timeoutMs: aNumber(1),
});

export const CRASH_RUN_OPTIONS: OptionTable = optionTable<CrashRunOptions>("program.run", {
  crashAt: oneOf(...CRASH_POINTS),
  occurrence: anInteger(1),
  killAfterMs: aNumber(0),
  args: listOf(aText),
});

/**
 * @param file a program that creates its runtime with `createCrashableRuntime`; `.ts` and `.tsx` files need no build
 * @example
 * const program = createCrashProgram(new URL("./program.ts", import.meta.url), { args: [storePath] });
 * expect((await program.run({ crashAt: "after-effect" })).crashed).toBe(true);
 * await program.run(); // resumes
 * expect(shop.orders).toHaveLength(1);
 */
export function createCrashProgram(file: string | URL, options: CrashProgramOptions = {}): CrashProgram {
  checkOptions(CRASH_PROGRAM_OPTIONS, options);
  const path = file instanceof URL ? fileURLToPath(file) : file;
  return {
    run: async (run = {}) => {
      checkOptions(CRASH_RUN_OPTIONS, run);
      const { crashAt, occurrence = 1 } = run;
      const child = spawn(process.execPath, [...flagsFor(path), path, ...(run.args ?? options.args ?? [])], {
        stdio: ["ignore", "pipe", "pipe", "ipc"],
        env: {
          ...process.env,
          ...options.env,
          [CRASH_VARIABLE]: crashAt === undefined ? "" : `${crashAt}:${occurrence}`,
        },
      });
      return watch(child, { path, killAfterMs: run.killAfterMs, timeoutMs: options.timeoutMs ?? 30_000 });
    },
  };
}

function flagsFor(path: string): string[] {
  if (/\.[jt]sx$/.test(path)) return preloadFlags();
  // The first Node versions with TypeScript support need a flag for it.
  return path.endsWith(".ts") && process.features.typescript === false ? ["--experimental-strip-types"] : [];
}

interface WatchOptions {
  readonly path: string;
  readonly killAfterMs: number | undefined;
  readonly timeoutMs: number;
}

function watch(child: ChildProcess, { path, killAfterMs, timeoutMs }: WatchOptions): Promise<ProgramRun> {
  const output = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const timers: NodeJS.Timeout[] = [];
  let tookTooLong = false;
  timers.push(
    setTimeout(() => {
      tookTooLong = true;
      child.kill("SIGKILL");
    }, timeoutMs),
  );
  if (killAfterMs !== undefined) {
    child.once("message", () => timers.push(setTimeout(() => child.kill("SIGKILL"), killAfterMs)));
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      for (const timer of timers) clearTimeout(timer);
      const said = output.stderr.trim() === "" ? "" : `\n${output.stderr.trim()}`;
      if (tookTooLong) reject(new Error(`${path} did not end within ${timeoutMs} ms.${said}`));
      else if (signal === "SIGKILL") resolve({ crashed: true, ...output });
      else if (code === 0) resolve({ crashed: false, ...output });
      else reject(new Error(`${path} ended with ${signal ?? `exit code ${code}`}.${said}`));
    });
  });
}
