/**
 * Gives up a call that this process can neither finish nor store. The process is alive, so no other process may take over the
 * call until this one releases it: as soon as the store answers, the row is updated.
 */
import { releaseReservationsOf } from "../../store/tables/usage.ts";
import type { Transaction } from "../../store/store.ts";
import { abandonCall } from "../../store/tables/write-calls.ts";
import { type Call, inFlightName } from "../call.ts";

/** The intent may have been committed, but `execute` was not entered. */
export function leaveUnrun(call: Call): void {
  writeLater(call, "none");
}

/** `execute` may have been entered, and its outcome will not be stored. */
export function leaveInterrupted(call: Call): void {
  if (call.isDeferred) return;
  writeLater(call, call.executed ? null : "none");
}

function writeLater(call: Call, effect: "none" | null): void {
  const { host, scope } = call;
  const at = { scopeId: scope.id, key: call.key, attempt: scope.attempt, ownerId: host.ownerId };
  host.failedWrites.add(inFlightName(call.key, scope.attempt), function* (): Transaction<void> {
    const changes = yield* abandonCall(at, effect, host.clock.now());
    if (changes > 0) yield* releaseReservationsOf(call.key, host.ownerId);
  });
}
