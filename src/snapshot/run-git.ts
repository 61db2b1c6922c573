/**
 * Runs one git command: a list of arguments, bytes in, bytes out. It must never use a shell, nor hand the terminal
 * to git, and it turns every failure into a `ToolwrightError`.
 */
import { spawn } from "node:child_process";
import { ToolwrightError, type ErrorCode } from "../errors.ts";
import { FIXED_ARGUMENTS, type GitProgram } from "./git-program.ts";

export interface GitPlace {
  readonly program: GitProgram;
  readonly cwd: string;
  /** Over the program's own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** `name=value`, each passed with `-c`. */
  readonly settings?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface GitOptions {
  readonly input?: Buffer | string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Exit codes that are an answer and not a failure. */
  readonly accept?: readonly number[] | undefined;
}

export type Git = (args: readonly string[], options?: GitOptions) => Promise<Buffer>;

export function createGit(place: GitPlace): Git {
  return async (args, options = {}) => {
    const { code, killed, output, errors } = await start(place, args, options);
    const { signal } = place;
    if (code !== null && (options.accept ?? [0]).includes(code)) return output;
    const name = args.find((arg) => !arg.startsWith("-")) ?? "";
    if (signal?.aborted === true) {
      throw gitError("TOOL_ABORTED", `git ${name} was aborted.`, { cause: signal.reason });
    }
    if (killed) throw gitError("TOOL_TIMEOUT", `git ${name} took longer than ${LIMIT_MS} ms.`);
    const words = errors.toString("utf8").trim().slice(-WORDS_LIMIT) || `exit code ${code}`;
    const isFull = words.includes("No space left on device");
    throw gitError(isFull ? "TOOL_DISK_FULL" : "TOOL_COMMAND_FAILED", `git ${name} failed: ${words}`, {
      details: { exitCode: code },
    });
  };
}

/** Output of `-z` commands. Latin-1 keeps every byte, and file names need not be UTF-8. */
export function splitNul(output: Buffer): string[] {
  const parts = output.toString("latin1").split("\0");
  parts.pop();
  return parts;
}

export function joinNul(parts: readonly string[]): Buffer {
  return Buffer.from(parts.map((part) => `${part}\0`).join(""), "latin1");
}

const LIMIT_MS = 120_000;
const KILL_AFTER_MS = 2_000;
const WORDS_LIMIT = 1_000;

interface Ended {
  readonly code: number | null;
  readonly killed: boolean;
  readonly output: Buffer;
  readonly errors: Buffer;
}

function start(place: GitPlace, args: readonly string[], options: GitOptions): Promise<Ended> {
  const { program, cwd, env, settings = [], signal } = place;
  const flags = [...FIXED_ARGUMENTS, ...settings.flatMap((setting) => ["-c", setting])];
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(gitError("TOOL_ABORTED", "The snapshot was aborted.", { cause: signal.reason }));
      return;
    }
    const child = spawn(program.file, [...flags, ...args], {
      cwd,
      env: { ...program.env, ...env, ...options.env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    const output: Buffer[] = [];
    const errors: Buffer[] = [];
    let killed = false;
    // SIGTERM first: git then removes its lock files.
    const stop = (): void => {
      killed = true;
      child.kill("SIGTERM");
      setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS).unref();
    };
    const timer = setTimeout(stop, LIMIT_MS);
    signal?.addEventListener("abort", stop, { once: true });
    const clear = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    };
    child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
    child.stdin.on("error", () => {}); // Git ended before it read everything; its exit code says why.
    child.stdin.end(options.input ?? "");
    child.once("error", (cause) => {
      clear();
      reject(gitError("TOOL_COMMAND_NOT_FOUND", `git could not be started: ${cause.message}.`, { cause }));
    });
    child.once("close", (code) => {
      clear();
      resolve({ code, killed, output: Buffer.concat(output), errors: Buffer.concat(errors) });
    });
  });
}

function gitError(
  code: ErrorCode,
  message: string,
  options: { cause?: unknown; details?: Record<string, unknown> } = {},
): ToolwrightError {
  return new ToolwrightError(code, message, { effect: "none", ...options });
}
