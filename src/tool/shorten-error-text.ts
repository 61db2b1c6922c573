/** Shortens the JSON of an error by truncating its fields, so that it stays valid JSON. */
import type { ModelError } from "../errors.ts";
import { parseInput } from "./parse-input.ts";

/** The length that remains of a hint if the error is too long. */
const LONGEST_HINT = 300;

/**
 * @param text the JSON of a `ModelError`
 * @param mark the text at the cut: how many characters of how many are shown
 * @returns `undefined` if the text is not such an error
 */
export function shortenErrorText(
  text: string,
  longest: number,
  mark: (shown: number, total: number) => string,
): string | undefined {
  const error = parseInput(text)?.value;
  if (!isModelError(error)) return undefined;
  if (text.length <= longest) return text;
  const hint = error.next_action_hint;
  const short = hint.length <= LONGEST_HINT ? hint : `${hint.slice(0, LONGEST_HINT - 1).toWellFormed()}…`;
  const { message } = error;
  let kept = Math.min(message.length, longest);
  for (;;) {
    const shown = `${message.slice(0, kept).toWellFormed()}… ${mark(kept, message.length)}`;
    const made = JSON.stringify({ ...error, message: shown, next_action_hint: short });
    if (made.length <= longest || kept === 0) return made;
    // JSON may need six characters for one.
    kept = Math.max(0, kept - Math.ceil((made.length - longest) / 6));
  }
}

function isModelError(value: unknown): value is ModelError {
  if (typeof value !== "object" || value === null) return false;
  const { is_error, message, next_action_hint } = value as Record<string, unknown>;
  return is_error === true && typeof message === "string" && typeof next_action_hint === "string";
}
