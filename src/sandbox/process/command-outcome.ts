/**
 * Turns the end of a command into a result or an error. It must never confuse a sandbox that did not start with a
 * command that failed: the first guarantees that nothing happened.
 */
import { constants } from "node:os";
import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import { ERROR_CODES, ToolwrightError } from "../../errors.ts";
import { findExecutable, isExecutable } from "../tiers/find-executable.ts";
import type { IsolationTier } from "../tiers/isolation-tier.ts";
import type { ProcessResult } from "./run-process.ts";
import type { CommandRequest, CommandResult } from "./run-command.ts";

type Told = Pick<CommandRequest, "cmd" | "timeoutMs" | "signal">;

export function toCommandResult(request: Told, result: ProcessResult, tier: IsolationTier): CommandResult {
  refuseUnstarted(request, result, tier);
  const output = result.output.text();
  const { exitCode, signal } = endOf(result);
  const details = { output, exitCode, signal, truncated: result.output.truncated, tier };
  if (result.stopped !== undefined) throw stoppedError(request, result.stopped, details);
  if (exitCode === 0 && signal === null) return { ...details, exitCode };
  const how = signal === null ? `exit code ${exitCode}` : `signal ${signal} (exit code ${exitCode})`;
  throw new ToolwrightError("TOOL_COMMAND_FAILED", withOutput(`The command ended with ${how}.`, output), {
    details,
  });
}

/** Throws if the sandbox did not start or the program does not exist. In both cases nothing ran. */
export function refuseUnstarted(
  { cmd }: Pick<Told, "cmd">,
  result: ProcessResult,
  tier: IsolationTier,
): void {
  const { status, stopped, output, errors } = result;
  if (stopped !== undefined || tier === "none" || tier === "seatbelt") return;
  if (status.execErrno !== undefined) throw cannotRun(cmd, status.execErrno === constants.errno.ENOENT, tier);
  if (status.failed === undefined && status.exitCode !== undefined) return;
  // The outer process was killed while the command ran, for example by the OOM killer.
  if (status.failed === undefined && status.started && result.signal !== null) return;
  const words = (status.failed ?? `${output.text()}${errors.text()}`).trim();
  const missing = tier === "bwrap" ? /^bwrap: execvp .*: (.+)$/s.exec(words) : null;
  if (missing !== null) throw cannotRun(cmd, missing[1] === "No such file or directory", tier);
  throw new ToolwrightError(
    "TOOL_SANDBOX_UNAVAILABLE",
    `The sandbox (${tier}) did not start. ${words}`.trim(),
    {
      details: { tier },
      effect: "none",
    },
  );
}

/** For tiers that show the host's files: fails the same way as bubblewrap, before anything starts. */
export function refuseMissingProgram(plan: {
  readonly cmd: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}): void {
  const path = plan.cmd.includes("/")
    ? resolve(plan.cwd, plan.cmd)
    : findExecutable(plan.cmd, plan.env["PATH"] ?? "");
  if (path !== undefined && isExecutable(path)) return;
  const isThere = path !== undefined && lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  throw cannotRun(plan.cmd, !isThere, undefined);
}

/** The operating system could not start the process: out of memory, too many processes, or a deleted folder. */
export function toStartError(cause: unknown, tier: IsolationTier): never {
  const words = cause instanceof Error ? cause.message : String(cause);
  const code = tier === "none" ? "TOOL_COMMAND_FAILED" : "TOOL_SANDBOX_UNAVAILABLE";
  throw new ToolwrightError(code, `The command could not be started (${tier}): ${words}.`, {
    details: { output: "", exitCode: 126, signal: null, tier },
    effect: "none",
    cause,
  });
}

/** Uses the exit codes of a shell: 127 for a missing program, 126 for one that cannot be run. */
function cannotRun(cmd: string, isMissing: boolean, tier: IsolationTier | undefined): ToolwrightError {
  const what = isMissing ? "is not installed here" : "cannot be run";
  const exitCode = isMissing ? 127 : 126;
  return new ToolwrightError(
    "TOOL_COMMAND_NOT_FOUND",
    `The command ${JSON.stringify(cmd)} ${what} (exit code ${exitCode}).`,
    {
      details: { output: "", exitCode, signal: null, tier },
      hint: hintFor(cmd, isMissing),
      effect: "none",
    },
  );
}

function hintFor(cmd: string, isMissing: boolean): string {
  // Models often pass a whole shell line.
  if (/[\s|&;<>()$`*?]/.test(cmd)) {
    const line = cmd.length > LONGEST_HINTED_LINE ? "…" : cmd;
    const shell = `{ cmd: "sh", args: ["-c", ${JSON.stringify(line)}] }`;
    return `cmd is the name of one program, without a shell. Pass its arguments in args, or run a shell: ${shell}.`;
  }
  return isMissing
    ? ERROR_CODES.TOOL_COMMAND_NOT_FOUND.hint
    : "Name a program, or an executable script whose first line names its interpreter.";
}

const LONGEST_HINTED_LINE = 200;

function stoppedError(
  { timeoutMs, signal }: Told,
  why: NonNullable<ProcessResult["stopped"]>,
  details: { readonly output: string },
): ToolwrightError {
  switch (why) {
    case "timeout": {
      const message = `The command timed out after ${timeoutMs} ms. It and all processes that it started were killed.`;
      return new ToolwrightError("TOOL_TIMEOUT", withOutput(message, details.output), { details });
    }
    case "abort": {
      const message = "The call was aborted. The command and all processes that it started were killed.";
      return new ToolwrightError("TOOL_ABORTED", withOutput(message, details.output), {
        details,
        cause: signal?.reason,
      });
    }
    case "mismatch":
    case "violation": {
      const message = "The command was stopped because of a protected path.";
      return new ToolwrightError("TOOL_PATH_PROTECTED", withOutput(message, details.output), { details });
    }
    case "flood": {
      const message = "The command wrote far more than the output limit and was killed.";
      return new ToolwrightError("TOOL_COMMAND_FAILED", withOutput(message, details.output), {
        details,
        hint: "Write to a file, or print less.",
      });
    }
  }
}

function withOutput(message: string, output: string): string {
  return output === "" ? `${message} It wrote nothing.` : `${message}\n${output}`;
}

/** Sandboxes report a signal the way shells do: 128 plus its number. */
function endOf(result: ProcessResult): { exitCode: number; signal: NodeJS.Signals | null } {
  const { signal } = result;
  if (result.status.exitCode === undefined && signal !== null) {
    return { exitCode: 128 + constants.signals[signal], signal };
  }
  const exitCode = result.status.exitCode ?? result.exitCode ?? 1;
  return { exitCode, signal: SIGNALS.get(exitCode - 128) ?? null };
}

const SIGNALS = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals]),
);
