/** Messages about a call whose outcome is unknown. They include its last known error. */
import type { OnUnknown } from "../../definition/tool-options.ts";
import { ToolwrightError } from "../../errors.ts";
import type { CallRow } from "../../store/tables/calls.ts";
import type { Call } from "../call.ts";
import type { Result } from "../outcome.ts";
import { decodeError } from "../error-record.ts";

const LONGEST_REASON = 500;

interface EarlierError {
  readonly code: string;
  readonly message: string;
}

/** `was interrupted`, or `failed (…)` if it ended with an error that leaves its effect in doubt. */
export function howItEnded(row: Pick<CallRow, "errorJson">): string {
  const error = earlierError(row);
  if (error === undefined) return "was interrupted";
  const { message } = error;
  const reason =
    message.length <= LONGEST_REASON ? message : `${message.slice(0, LONGEST_REASON).toWellFormed()}…`;
  return isInterrupted(error) ? `was interrupted (${reason})` : `failed (${reason})`;
}

/** The call's own error, not the `outcome_unknown` that a later call received. */
function earlierError(row: Pick<CallRow, "errorJson">): EarlierError | undefined {
  if (row.errorJson === null) return undefined;
  const { code, message, details } = decodeError(row.errorJson);
  if (code !== "TOOL_OUTCOME_UNKNOWN") return { code, message };
  const { earlier } = details;
  return typeof earlier === "object" && earlier !== null ? (earlier as EarlierError) : undefined;
}

function isInterrupted({ code }: EarlierError): boolean {
  return code === "TOOL_ABORTED";
}

/** The error of a call that neither runs nor requests approval. */
export function outcomeUnknown(
  call: Call,
  row: CallRow,
  way: Exclude<OnUnknown, "run" | "ask">,
): ToolwrightError {
  const { spec } = call;
  const earlier = earlierError(row);
  return new ToolwrightError(
    "TOOL_OUTCOME_UNKNOWN",
    `An earlier call of "${spec.name}" with these arguments ${howItEnded(row)} in attempt ${row.attempt}. Its effect is in doubt.`,
    {
      details: {
        tool: spec.name,
        key: row.key,
        attempt: row.attempt,
        onUnknown: way,
        ...(earlier === undefined ? {} : { earlier }),
      },
      ...(way === "fail" && !call.isReadByModel ? { hint: FAIL_HINT } : {}),
    },
  );
}

const FAIL_HINT =
  'Verify the external state. The tool is defined with onUnknown: "fail", so every resume ends with this error; ' +
  'start a new run, or define the tool with onUnknown: "ask" and resume to decide about this call.';

/** The prompt that the approver reads. @param refusal why the call cannot run again now */
export function questionAbout(call: Call, row: CallRow, refusal: Result | undefined): string {
  const question = `A call of "${call.spec.name}" ${howItEnded(row)}, and its effect is in doubt. Did it happen, should it run again, or do you give up?`;
  if (refusal?.kind !== "error") return question;
  return `${question} It can run again only under a higher limit: ${refusal.error.message}`;
}
