/**
 * What is known about an interrupted call from other calls under its business key: one of them succeeded, or a person has
 * answered the question of one of them. Both bind every call that uses the key, not only the one that asked.
 */
import { ToolwrightError } from "../../errors.ts";
import { answerUnderKey, type ApprovalRow } from "../../store/tables/approvals.ts";
import type { CallRow } from "../../store/tables/calls.ts";
import { readClaimedCall, type RecordedCall, wholeOutput } from "../../store/tables/recorded-calls.ts";
import type { Transaction } from "../../store/store.ts";
import { encode } from "../../util/encode.ts";
import type { Call } from "../call.ts";
import type { Result } from "../outcome.ts";
import { refuse } from "../policy.ts";
import { lateResult } from "./late-result.ts";

interface KnownUnderKey {
  /** Another call that holds the key and had its effect. */
  readonly succeeded: RecordedCall | undefined;
  /** An answer that has not been used yet: it happened, or run it again. */
  readonly answer: ApprovalRow | undefined;
}

/** @param row the interrupted call: this one, or the one that holds the business key */
export function* knownUnderKey(call: Call, row: CallRow): Transaction<KnownUnderKey> {
  if (row.idempotencyKey === null) return { succeeded: undefined, answer: undefined };
  const holder = (yield* readClaimedCall(row.idempotencyKey))?.call;
  const isOther = holder !== undefined && holder.key !== row.key;
  if (isOther && hadEffect(holder)) return { succeeded: holder, answer: undefined };
  // An answer about an earlier interruption says nothing about the one of a try that began after it.
  const sinceMs = (holder ?? row).startedAtMs;
  const answer = yield* answerUnderKey(call.spec.name, row.idempotencyKey, sinceMs, call.host.clock.now());
  return { succeeded: undefined, answer };
}

export function hadEffect({ status, effect }: CallRow): boolean {
  return status === "success" || effect === "happened";
}

/** The result of another call under the same business key, whatever `replay` says. */
export async function resultUnderKey(call: Call, done: RecordedCall): Promise<Result> {
  call.note = "This was done before under the same business key. It was not done again.";
  const result =
    done.status === "success"
      ? recorded(done)
      : await lateResult(call, done.attempt, done.lateJson ?? encode(undefined));
  return result.kind === "recorded" ? { ...result, isElsewhere: true } : result;
}

/** A result whose output was deleted is answered as such, and not run again. */
function recorded(done: RecordedCall): Result {
  try {
    return { kind: "recorded", outputJson: wholeOutput(done), attempt: done.attempt };
  } catch (error) {
    if (!ToolwrightError.is(error)) throw error;
    return refuse(error);
  }
}
