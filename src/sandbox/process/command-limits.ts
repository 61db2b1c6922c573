/**
 * Validates a command before anything is looked up or started. The limits are documented. A value over its limit is
 * refused, never truncated.
 */
import { ToolwrightError } from "../../errors.ts";

export const BASH_TOOL_MAX_COMMAND_LENGTH = 8_192;
export const BASH_TOOL_MAX_ARGS = 128;
export const BASH_TOOL_MAX_ARG_LENGTH = 8_192;
export const BASH_TOOL_MAX_CWD_LENGTH = 1_024;
export const BASH_TOOL_MAX_OUTPUT_BYTES = 10_485_760;
export const BASH_TOOL_MAX_TIMEOUT_MS = 3_600_000;

export interface CommandInput {
  readonly cmd: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
}

export function checkCommandInput({ cmd, args, cwd }: CommandInput): void {
  checkText("cmd", cmd, BASH_TOOL_MAX_COMMAND_LENGTH);
  if (cmd.trim() === "") throw invalid("cmd must name an executable; it is empty.");
  if (!Array.isArray(args)) {
    throw invalid(`args must be an array of strings, such as ["-l"]; it is ${typeof args}.`);
  }
  if (args.length > BASH_TOOL_MAX_ARGS) {
    throw invalid(`args may have at most ${BASH_TOOL_MAX_ARGS} entries; it has ${args.length}.`);
  }
  for (const [index, arg] of args.entries()) checkText(`args[${index}]`, arg, BASH_TOOL_MAX_ARG_LENGTH);
  if (cwd !== undefined) checkText("opts.cwd", cwd, BASH_TOOL_MAX_CWD_LENGTH);
}

export interface ProcessLimits {
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
}

export function checkProcessLimits({ timeoutMs, maxOutputBytes }: ProcessLimits): void {
  checkNumber("timeoutMs", timeoutMs, BASH_TOOL_MAX_TIMEOUT_MS);
  checkNumber("maxOutputBytes", maxOutputBytes, BASH_TOOL_MAX_OUTPUT_BYTES);
}

/** Rejects variable names and values that the kernel would parse differently than intended. */
export function checkEnvironment(env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    if (name === "" || /[=\0]/.test(name))
      throw invalid(`${JSON.stringify(name)} is not a valid variable name.`);
    if (value.includes("\0")) throw invalid(`The value of the variable ${name} contains a NUL character.`);
  }
}

export function checkText(name: string, text: string, maxLength: number): void {
  if (typeof text !== "string") throw invalid(`${name} must be a string; it is ${typeof text}.`);
  if (text.length > maxLength) {
    throw invalid(`${name} may have at most ${maxLength} characters; it has ${text.length}.`);
  }
  if (text.includes("\0")) throw invalid(`${name} contains a NUL character, which no argument can contain.`);
}

function checkNumber(name: string, value: number, maximum: number): void {
  if (Number.isFinite(value) && value > 0 && value <= maximum) return;
  throw invalid(`${name} must be positive and at most ${maximum}; it is ${value}.`);
}

function invalid(message: string): ToolwrightError {
  return new ToolwrightError("TOOL_INPUT_INVALID", message, { effect: "none" });
}
