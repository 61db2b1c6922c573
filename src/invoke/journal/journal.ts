/**
 * The outermost stage. It checks the log first, so that a finished call does not run again. It sees every exit, so that no
 * outcome is reported before it is stored. If an outcome cannot be committed, the call does not end.
 */
import { type Call, resetCall } from "../call.ts";
import { argumentsHash } from "../call-identity.ts";
import { aborted, Contended, type Policy } from "../policy.ts";
import { leaveInterrupted } from "./abandon.ts";
import { recordWithoutRun } from "./record-without-run.ts";
import { recordOutcome } from "./record-outcome.ts";
import { decide } from "./decide.ts";
import { callsWithEditedArguments } from "../../store/tables/approvals.ts";
import { callsByKey } from "../../store/tables/calls.ts";

export const journal: Policy = async (call, next) => {
  if (call.scope.attempt > 1) await matchEditedArguments(call);
  for (let isFirst = true; ; isFirst = false) {
    let isInside = false;
    try {
      // A `callKey` may have been used before, by any process.
      // A call of a fork may equal one of its parent.
      const isNew =
        isFirst &&
        typeof call.callIndex === "number" &&
        call.scope.originId === undefined &&
        !call.scope.mayBeRecorded(call.key);
      const decision = isNew ? undefined : await decide(call);
      isInside = decision === undefined;
      const result = decision ?? (await next(call));
      isInside = false;
      return await (call.begun
        ? recordOutcome(call, result)
        : recordWithoutRun(call, result, decision !== undefined));
    } catch (error) {
      // Another process was faster with the same call: decide again by what it wrote.
      if (!(error instanceof Contended)) {
        // Not an error of the tool: the call cannot end, but it must be released for other processes.
        if (isInside && call.begun) leaveInterrupted(call);
        throw error;
      }
      resetCall(call);
      if (call.signal?.aborted === true) return aborted(call);
    }
  }
};

/**
 * The key of a call is derived from the requested arguments, but an approver may have edited them. If a later attempt requests
 * the edited arguments, because the model read them, it means the same call.
 */
async function matchEditedArguments(call: Call): Promise<void> {
  const { host, scope, spec } = call;
  if (scope.attempt === 1 || spec.needsApproval === undefined || scope.mayBeRecorded(call.key)) return;
  const key = await host.store.read(function* () {
    for (const candidate of yield* callsWithEditedArguments(scope.id, spec.name, argumentsHash(call))) {
      const [latest] = yield* callsByKey(scope.id, candidate);
      if (latest !== undefined && latest.attempt < scope.attempt) return candidate;
    }
    return undefined;
  });
  if (key === undefined) return;
  host.waitGraph.rename(call, key);
  call.idempotencyKey = key;
}
