/**
 * A call that this process can neither finish nor record. Its process lives on, so no other one may take the call over
 * until this one lets go of it: as soon as the store answers, the row says what is known.
 */
import { releaseReservationsOf } from "../../store/tables/usage.ts";
import type { Transaction } from "../../store/store.ts";
import { abandonCall } from "../../store/tables/write-calls.ts";
import { type Call, inFlightName } from "../call.ts";

/** The intent may have been committed, but `execute` was not entered. */
export function leaveUnrun(call: Call): void {
  remember(call, "none");
}

/** `execute` was entered, and what came of it will not be recorded. */
export function leaveInterrupted(call: Call): void {
  if (call.isDeferred) return;
  remember(call, call.executed ? null : "none");
}

function remember(call: Call, effect: "none" | null): void {
  const { host, scope } = call;
  const at = { scopeId: scope.id, key: call.key, attempt: scope.attempt, ownerId: host.ownerId };
  host.unsettled.add(inFlightName(call.key, scope.attempt), function* (): Transaction<void> {
    const changes = yield* abandonCall(at, effect, host.clock.now());
    if (changes > 0) yield* releaseReservationsOf(call.key, host.ownerId);
  });
}
