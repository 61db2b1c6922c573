/** Converts the outcome of a call: to an error to throw, or to a text for a model. */
import type { ToolSpec } from "../definition/tool-spec.ts";
import { ToolwrightError } from "../errors.ts";
import type { Approval } from "../invoke/approval.ts";
import type { Outcome } from "../invoke/outcome.ts";
import { reportedCopy } from "../invoke/error-record.ts";
import { toJsonOutput } from "./model-notes.ts";

export interface ModelAnswer {
  readonly text: string;
  readonly isError: boolean;
}

/** Plain text or JSON; errors as `ModelError`. */
export function toModelAnswer(spec: ToolSpec, outcome: Outcome): ModelAnswer {
  if (outcome.status !== "success") {
    return { text: JSON.stringify(errorOf(spec, outcome).toModel()), isError: true };
  }
  return { text: outputText(outcome.output, outcome.note), isError: saysError(outcome.output) };
}

export function outputText(output: unknown, note: string | undefined): string {
  const shown = toJsonOutput(output, note);
  return shown.type === "text" ? shown.value : JSON.stringify(shown.value);
}

export function errorOf(spec: ToolSpec, outcome: Exclude<Outcome, { status: "success" }>): ToolwrightError {
  return outcome.status === "pending" ? pendingError(spec, outcome.approval) : outcome.error;
}

/**
 * The error of an outcome that is not a success.
 * @param hint what the reader can do; defaults to the hint of the error code
 */
export function pendingError(
  spec: ToolSpec,
  { id, prompt }: Pick<Approval, "id" | "prompt">,
  hint?: string,
): ToolwrightError {
  return reportedCopy(
    new ToolwrightError(
      "TOOL_APPROVAL_PENDING",
      `Tool "${spec.name}" waits for approval (request ${id}): ${prompt}`,
      { details: { tool: spec.name, approvalId: id }, hint, effect: "none" },
    ),
  );
}

/** A successful call may still return a result that reports a failure. */
export function saysError(output: unknown): boolean {
  return typeof output === "object" && output !== null && "is_error" in output && output.is_error === true;
}
