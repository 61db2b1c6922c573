/** Errors of the command line: what is wrong, and what to do about it. */
import { errorLink, ToolwrightError } from "../errors.ts";
import { messageOf } from "../invoke/error-record.ts";

export class CliError extends Error {
  readonly code: string;
  readonly hint: string;

  constructor(code: string, message: string, hint = "") {
    super(message);
    this.name = "CliError";
    this.code = code;
    this.hint = hint;
  }
}

/** For a run that another process is running. */
export function ownedElsewhere(runId: string, owner: string): CliError {
  return new CliError(
    "TOOL_RUN_CONFLICT",
    `Run "${runId}" is running in ${owner}.`,
    "Wait until it has ended, or stop that process. Nothing was changed.",
  );
}

export interface ErrorReport {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  /** The description of the code, if it is one of the library. */
  readonly docs?: string;
}

export function toErrorReport(error: unknown): ErrorReport {
  const report = reportOf(error);
  const docs = errorLink(report.code);
  return docs === undefined ? report : { ...report, docs };
}

function reportOf(error: unknown): ErrorReport {
  if (error instanceof CliError) return { code: error.code, message: error.message, hint: error.hint };
  if (!ToolwrightError.is(error)) {
    return { code: "CLI_FAILED", message: messageOf(error), hint: "Run it again with --debug to see where." };
  }
  const isLocked = error.code === "TOOL_STORE_FAILED" && /locked|busy/i.test(error.message);
  const hint = isLocked
    ? "Another program has locked the store: end that program, then try again."
    : error.hint;
  // Zod reports each problem on its own line.
  return { code: error.code, message: error.message.replaceAll(/\s*\n\s*/g, " "), hint };
}
