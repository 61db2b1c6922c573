/**
 * The words of a patch that does not fit. Must never show more than a few lines of the file.
 */
import { ToolwrightError } from "../../errors.ts";

export function patchFailed(why: string, hint?: string): ToolwrightError {
  return new ToolwrightError("TOOL_PATCH_FAILED", `Failed to apply patch: ${why}`, { hint, effect: "none" });
}

/** One line of a file or of a patch, fit for a message. */
export function showLine(line: string): string {
  return JSON.stringify(line.length > 160 ? `${line.slice(0, 160)}…` : line);
}
