/** One value of a call, piece by piece: an output may have many megabytes. */
import { ToolwrightError } from "../errors.ts";
import type { Store } from "../store/store.ts";
import { type CallPart, type CallLocation, readCallPart as selectPart } from "../store/tables/call-pages.ts";
import { toShownStored } from "../util/truncate.ts";

export interface CallPiece {
  /** JSON, redacted as it is stored. `""` if the call has no such value. */
  readonly text: string;
  readonly offset: number;
  /** `null` at the end. */
  readonly nextOffset: number | null;
  readonly totalChars: number;
}

/** Characters of one piece. */
export const PIECE_CHARS = 65_536;

/** @throws TOOL_OPTION_INVALID, TOOL_CALL_NOT_FOUND */
export async function readCallPart(
  store: Store,
  at: CallLocation,
  part: CallPart,
  offset = 0,
): Promise<CallPiece> {
  const stored = await store.read(() => selectPart(at, part));
  if (stored === undefined)
    throw new ToolwrightError(
      "TOOL_CALL_NOT_FOUND",
      `There is no call "${at.key}" in attempt ${at.attempt}.`,
      {
        details: { key: at.key, attempt: at.attempt },
      },
    );
  return toPiece(stored, offset);
}

/** @param stored `null` if there is no such value @throws TOOL_OPTION_INVALID */
export function toPiece(stored: string | null, offset: number): CallPiece {
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw new ToolwrightError("TOOL_OPTION_INVALID", "Option offset must be a whole number from 0.", {
      details: { option: "offset" },
    });
  const whole = stored === null ? "" : toShownStored(stored);
  const end = Math.min(whole.length, offset + PIECE_CHARS);
  return {
    text: whole.slice(offset, end),
    offset,
    nextOffset: end < whole.length ? end : null,
    totalChars: whole.length,
  };
}
