/**
 * The outermost stage. It asks the record first, so that nothing is run that has been run; and it sees every exit, so
 * that nothing is reported that is not recorded. If an outcome cannot be committed, the call does not end.
 */
import { type Call, resetCall } from "../call.ts";
import type { Result } from "../outcome.ts";
import { Contended, type Policy } from "../policy.ts";
import { leaveInterrupted } from "./abandon.ts";
import { recordAnswer } from "./record-answer.ts";
import { recordEnd } from "./record-end.ts";
import { decide } from "./decide.ts";
import { matchEditedArguments } from "./match-edited.ts";

/** An error here is none of the tool's: the call cannot end, and no other process may wait for it for ever. */
async function nextOrLeave(call: Call, next: () => Promise<Result>): Promise<Result> {
  try {
    return await next();
  } catch (error) {
    if (call.begun && !(error instanceof Contended)) leaveInterrupted(call);
    throw error;
  }
}

export const journal: Policy = async (call, next) => {
  if (call.scope.attempt > 1) await matchEditedArguments(call);
  for (let looked = false; ; looked = true) {
    try {
      // A key of the caller's own may have been used before, by anybody.
      const isNew = !looked && typeof call.place === "number" && !call.scope.mayBeRecorded(call.key);
      const decision = isNew ? undefined : await decide(call);
      const result = decision ?? (await nextOrLeave(call, next));
      return await (call.begun
        ? recordEnd(call, result)
        : recordAnswer(call, result, decision !== undefined));
    } catch (error) {
      // Another process was faster with this very call: what it wrote decides.
      if (!(error instanceof Contended)) throw error;
      resetCall(call);
    }
  }
};
