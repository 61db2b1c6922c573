/**
 * Errors for patches that do not fit. They must never show more than a few lines of the file, and must never put any
 * of them into the log: the content of files and patches is not stored.
 */
import { ToolwrightError } from "../../errors.ts";

/** Formats a line of a file or of a patch. The stored form of the message shows none. */
export type ShowLine = (line: string) => string;

/** A text, or a function that builds it from lines. */
type Words = string | ((show: ShowLine) => string);

export function patchFailed(why: Words, hint?: Words): ToolwrightError {
  const say = (words: Words, show: ShowLine): string => (typeof words === "string" ? words : words(show));
  const error = (show: ShowLine, logged?: ToolwrightError): ToolwrightError =>
    new ToolwrightError("TOOL_PATCH_FAILED", `Failed to apply patch: ${say(why, show)}`, {
      hint: hint === undefined ? undefined : say(hint, show),
      effect: "none",
      logged: logged && { message: logged.message, hint: logged.hint },
    });
  const isPlain = typeof why === "string" && typeof hint !== "function";
  return error(showLine, isPlain ? undefined : error(hideLine));
}

const hideLine: ShowLine = () => "…";

/** Formats one line for a message. */
const showLine: ShowLine = (line) => JSON.stringify(line.length > 160 ? `${line.slice(0, 160)}…` : line);
