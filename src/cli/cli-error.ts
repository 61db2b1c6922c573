/** What the command says when it cannot do what it was asked: one sentence of what is wrong, one of what to do. */
import { ToolwrightError } from "../errors.ts";
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

export interface Complaint {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export function toComplaint(error: unknown): Complaint {
  if (error instanceof CliError) return { code: error.code, message: error.message, hint: error.hint };
  if (!ToolwrightError.is(error)) {
    return { code: "CLI_FAILED", message: messageOf(error), hint: "Run it again with --debug to see where." };
  }
  const isLocked = error.code === "TOOL_STORE_FAILED" && /locked|busy/i.test(error.message);
  const hint = isLocked ? "Another program holds it: end that program, then try again." : error.hint;
  // Zod says each problem on a line of its own.
  return { code: error.code, message: error.message.replaceAll(/\s*\n\s*/g, " "), hint };
}
