/**
 * Runs git, and the few other programs that a snapshot needs, in the sandbox: bytes in, bytes out. An agent may
 * replace any file or folder while git reads it, so git sees only the files that the agent's own commands see. Every failure
 * becomes a `ToolwrightError`.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolwrightError, type ErrorCode } from "../errors.ts";
import type { IsolationMode } from "../sandbox/tiers/isolation-tier.ts";
import { refuseUnstarted } from "../sandbox/process/command-outcome.ts";
import { runConfined } from "../sandbox/process/run-command.ts";
import type { ProcessResult } from "../sandbox/process/run-process.ts";
import { quoted } from "../terminal/terminal-text.ts";
import { FIXED_ARGUMENTS, type GitProgram } from "./git-program.ts";

export interface GitSetup {
  readonly program: GitProgram;
  /** The root of the sandbox: the only writable folder. */
  readonly writable: string;
  /** Also visible, read-only. */
  readonly shown: readonly string[];
  /** Our own folder for standard input data. */
  readonly inputs: string;
  readonly cwd: string;
  /** Overrides the program's own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** `name=value`, each passed with `-c`. */
  readonly settings?: readonly string[] | undefined;
  readonly isolation: IsolationMode;
  readonly signal?: AbortSignal | undefined;
}

export interface GitOptions {
  readonly input?: Buffer | string | undefined;
  /** The same, from a file that is visible in the sandbox. */
  readonly inputFile?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The working directory of git, if it differs from the default. */
  readonly cwd?: string | undefined;
  /** Exit codes that are a result rather than a failure. */
  readonly accept?: readonly number[] | undefined;
}

export type Git = (args: readonly string[], options?: GitOptions) => Promise<Buffer>;

/** Runs `script` with `/bin/sh`, in the same sandbox. Errors refer to it as `name`. */
export type Shell = (name: string, script: string, options?: GitOptions) => Promise<Buffer>;

export function createGit(setup: GitSetup): Git {
  const shell = createShell(setup);
  return (args, options) => shell(`git ${args[0]}`, `exec ${gitCommand(setup, args, options?.cwd)}`, options);
}

/** A git command for a script. Each sandbox costs a few milliseconds, so one script does several steps. */
export function gitCommand(setup: GitSetup, args: readonly string[], cwd = setup.cwd): string {
  const flags = [...FIXED_ARGUMENTS, ...(setup.settings ?? []).flatMap((setting) => ["-c", setting])];
  return [setup.program.file, "-C", cwd, ...flags, ...args].map(quoted).join(" ");
}

export function createShell(setup: GitSetup): Shell {
  return async (name, script, options = {}) => {
    const { input, env, accept = [0] } = options;
    const { program, writable, shown, isolation, signal } = setup;
    if (signal?.aborted === true) {
      throw gitError("TOOL_ABORTED", "The snapshot was aborted.", { cause: signal.reason });
    }
    const file = input === undefined ? options.inputFile : keep(setup, input);
    const { result, tier } = await runConfined(
      {
        cmd: SHELL,
        args: ["-c", file === undefined ? script : `exec <${quoted(file)}\n${script}`],
        rootDir: writable,
        readOnly: shown,
        env: { ...program.env, ...setup.env, ...env },
        allowNetwork: false,
        isolation,
        signal,
        timeoutMs: LIMIT_MS,
        maxOutputBytes: OUTPUT_LIMIT,
        floodBytes: OUTPUT_LIMIT,
      },
      false,
    );
    refuseUnstarted({ cmd: SHELL }, result, tier);
    return outputOf(name, result, accept, signal);
  };
}

/** Splits the output of `-z` commands. Latin-1 preserves every byte, and file names need not be UTF-8. */
export function splitNul(output: Buffer): string[] {
  const parts = output.toString("latin1").split("\0");
  parts.pop();
  return parts;
}

export function joinNul(parts: readonly string[]): Buffer {
  return Buffer.from(parts.map((part) => `${part}\0`).join(""), "latin1");
}

const SHELL = "/bin/sh";
const LIMIT_MS = 120_000;
const WORDS_LIMIT = 1_000;
/** Lists of paths: two million of them. */
const OUTPUT_LIMIT = 256 * 1_048_576;

/** A command in the sandbox has no standard input, so it opens a file instead. */
function keep({ inputs }: GitSetup, input: Buffer | string): string {
  const file = join(inputs, crypto.randomUUID());
  writeFileSync(file, input);
  return file;
}

function outputOf(
  name: string,
  result: ProcessResult,
  accept: readonly number[],
  signal: AbortSignal | undefined,
): Buffer {
  const { stopped, output, errors } = result;
  if (stopped === "abort") throw gitError("TOOL_ABORTED", `${name} was aborted.`, { cause: signal?.reason });
  if (stopped === "timeout") throw gitError("TOOL_TIMEOUT", `${name} timed out after ${LIMIT_MS} ms.`);
  if (stopped === "flood") {
    throw gitError("TOOL_CONTENT_TOO_LARGE", `${name} wrote more than ${OUTPUT_LIMIT} bytes.`);
  }
  const code = result.status.exitCode ?? result.exitCode;
  if (code !== null && accept.includes(code)) return output.bytes();
  const words = errors.text().trim().slice(-WORDS_LIMIT) || `exit code ${code ?? result.signal}`;
  const isFull = words.includes("No space left on device");
  throw gitError(isFull ? "TOOL_DISK_FULL" : "TOOL_COMMAND_FAILED", `${name} failed: ${words}`, {
    details: { exitCode: code },
  });
}

function gitError(
  code: ErrorCode,
  message: string,
  options: { cause?: unknown; details?: Record<string, unknown> } = {},
): ToolwrightError {
  return new ToolwrightError(code, message, { effect: "none", ...options });
}
