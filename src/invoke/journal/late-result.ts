/** The result of a call whose output came late or was invalid: the effect happened. */
import { ToolwrightError } from "../../errors.ts";
import { decode } from "../../util/encode.ts";
import type { Call } from "../call.ts";
import { copyError } from "../error-record.ts";
import type { Result } from "../outcome.ts";
import { parseOutput } from "../policies/validate.ts";
import { holdsMark } from "../redact.ts";

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
