/**
 * Finds what other calls with the same business key show about an interrupted call: one of them succeeded, or the replay
 * request of one of them was resolved. Both bind every call that uses the key.
 */
import { ToolwrightError } from "../../errors.ts";
import { answerUnderKey, type ApprovalRow } from "../../store/tables/approvals.ts";
import type { CallRow } from "../../store/tables/calls.ts";
import { readClaimedCall, type RecordedCall, wholeOutput } from "../../store/tables/recorded-calls.ts";
import type { Transaction } from "../../store/store.ts";
import { encode } from "../../util/encode.ts";
import type { Call } from "../call.ts";
import { addNote, editNote, isEdited } from "../call-notes.ts";
import type { Result } from "../outcome.ts";
import { refuse } from "../policy.ts";
import { lateResult } from "./late-result.ts";

interface FoundUnderKey {
  /** Another call that holds the key and had its effect. */
  readonly succeeded: RecordedCall | undefined;
  /** A resolution that has not been used yet: it happened, or run it again. */
  readonly resolved: ApprovalRow | undefined;
}

/** @param row the interrupted call: this one, or the call that holds the business key */
export function* findSameBusinessKey(call: Call, row: CallRow): Transaction<FoundUnderKey> {
  if (row.idempotencyKey === null) return { succeeded: undefined, resolved: undefined };
  const holder = (yield* readClaimedCall(row.idempotencyKey))?.call;
  const isOther = holder !== undefined && holder.key !== row.key;
  if (isOther && hadEffect(holder)) return { succeeded: holder, resolved: undefined };
  // A resolution of an earlier interruption does not apply to a try that began after it.
  const sinceMs = (holder ?? row).startedAtMs;
  const resolved = yield* answerUnderKey(call.spec.name, row.idempotencyKey, sinceMs, call.host.clock.now());
  return { succeeded: undefined, resolved };
}

export function hadEffect({ status, effect }: CallRow): boolean {
  return status === "success" || effect === "happened";
}

/** The result of another call under the same business key, regardless of `replay`. */
export async function resultOfSameBusinessKey(call: Call, done: RecordedCall): Promise<Result> {
  // Both calls have the same arguments. What was noted before is about this call, which does not run.
  call.note = isEdited(call) ? editNote(done.inputJson) : undefined;
  addNote(call, "This was already done under the same business key. It was not done again.");
  const result =
    done.status === "success"
      ? recorded(done)
      : await lateResult(call, done.attempt, done.lateJson ?? encode(undefined));
  return result.kind === "recorded" ? { ...result, isElsewhere: true } : result;
}

/** If the output was deleted, the call returns that error and does not run again. */
function recorded(done: RecordedCall): Result {
  try {
    return { kind: "recorded", outputJson: wholeOutput(done), attempt: done.attempt };
  } catch (error) {
    if (!ToolwrightError.is(error)) throw error;
    return refuse(error);
  }
}
