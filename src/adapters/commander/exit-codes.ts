/** The exit code for each kind of error. docs/guides/commands.md has the same table. */
import { constants } from "node:os";
import type { ErrorCode, OwnErrorCode } from "../../errors.ts";

export const EXIT_CODES = {
  ok: 0,
  failed: 1,
  usage: 2,
  waiting: 3,
  denied: 4,
  refused: 5,
  unknown: 6,
  store: 7,
  timeout: 124,
} as const;

const BY_CODE: Readonly<Partial<Record<ErrorCode | OwnErrorCode, number>>> = {
  TOOL_INPUT_INVALID: EXIT_CODES.usage,
  TOOL_INPUT_REDACTED: EXIT_CODES.usage,
  TOOL_OPTION_INVALID: EXIT_CODES.usage,
  TOOL_APPROVAL_PENDING: EXIT_CODES.waiting,
  TOOL_APPROVAL_REQUIRED: EXIT_CODES.waiting,
  TOOL_APPROVAL_DENIED: EXIT_CODES.denied,
  TOOL_APPROVAL_EXPIRED: EXIT_CODES.denied,
  TOOL_LIMIT_EXCEEDED: EXIT_CODES.refused,
  TOOL_CIRCUIT_OPEN: EXIT_CODES.refused,
  TOOL_OUTCOME_UNKNOWN: EXIT_CODES.unknown,
  TOOL_STORE_FAILED: EXIT_CODES.store,
  TOOL_STORE_VERSION: EXIT_CODES.store,
  TOOL_STORE_DAMAGED: EXIT_CODES.store,
  TOOL_TIMEOUT: EXIT_CODES.timeout,
};

export function exitCodeOf(code: ErrorCode | OwnErrorCode): number {
  return BY_CODE[code] ?? EXIT_CODES.failed;
}

/** The shell's convention for a program that a signal ended. */
export function exitCodeOfSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
