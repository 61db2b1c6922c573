/**
 * The outermost stage. It asks the record first, so that nothing is run that has been run; and it sees every exit, so
 * that nothing is reported that is not on record. If an outcome cannot be committed, nobody is told that the call ended.
 */
import { resetCall } from "../call.ts";
import { Contended, type Policy } from "../policy.ts";
import { recordAnswer } from "../record/record-answer.ts";
import { recordEnd } from "../record/record-end.ts";
import { decide } from "../recovery/decide.ts";
import { matchEditedArguments } from "../recovery/match-edited.ts";

export const journal: Policy = async (call, next) => {
  if (call.scope.attempt > 1) await matchEditedArguments(call);
  for (let looked = false; ; looked = true) {
    try {
      // A key of the caller's own may have been used before, by anybody.
      const isNew = !looked && typeof call.place === "number" && !call.scope.mayBeRecorded(call.key);
      const decision = isNew ? undefined : await decide(call);
      const result = decision ?? (await next());
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
