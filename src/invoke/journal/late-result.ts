/** The result of a call whose output came late or was invalid: the effect happened. */
import { ToolwrightError } from "../../errors.ts";
import type { CallRow } from "../../store/tables/calls.ts";
import { decode } from "../../util/encode.ts";
import type { Call } from "../call.ts";
import { copyError } from "../error-record.ts";
import type { Result } from "../outcome.ts";
import { parseOutput } from "../policies/validate.ts";
import { holdsMark } from "../redact.ts";

/** The late success of an earlier attempt, if the attempt of `row` has only requested a resolution and run nothing. */
export function lateSuccessIn(
  rows: readonly CallRow[],
  row: CallRow,
): (CallRow & { readonly lateJson: string }) | undefined {
  if (row.effect !== null || row.ownerId !== null) return undefined;
  for (const earlier of rows) {
    const { lateJson } = earlier;
    if (earlier.effect === "happened" && lateJson !== null) return { ...earlier, lateJson };
  }
  return undefined;
}

/** Whether the last try before `row` that ran has reported no effect, if the attempt of `row` has run nothing. */
export function provedNoEffect(rows: readonly CallRow[], row: CallRow): boolean {
  if (row.effect !== null || row.ownerId !== null) return row.effect === "none";
  return rows.find(({ attempt, tries }) => attempt < row.attempt && tries > 0)?.effect === "none";
}

export async function lateResult(call: Call, attempt: number, lateJson: string): Promise<Result> {
  call.lateJson = lateJson;
  try {
    // A redaction mark replaces a value that was validated before.
    const outputJson = holdsMark(lateJson) ? lateJson : await parseOutput(call, decode(lateJson));
    return { kind: "recorded", outputJson, attempt };
  } catch (error) {
    if (!ToolwrightError.is(error)) throw error;
    return { kind: "error", error: copyError(error, { effect: "happened" }) };
  }
}
