/**
 * Lets calls in flight settle what they hold. A reservation belongs to a call that is in flight: what a dead process holds is
 * dropped, and so is what a call of this runtime holds that is not in flight any more, because its outcome could not be stored.
 */
import { type Holder, holdersOfReservations, releaseReservationsOf } from "../store/tables/usage.ts";
import { systemClock } from "../util/clock.ts";
import type { Call } from "./call.ts";
import type { Host } from "./host.ts";

const PAUSE_MS = 15;

/** In real time: other processes have no other. */
export async function waitForReservations(call: Call): Promise<void> {
  await dropAbandoned(call.host);
  // The only reason to end the pause early is the abort, which the caller looks at.
  await systemClock.sleep(PAUSE_MS, call.signal).catch(() => undefined);
}

async function dropAbandoned(host: Host): Promise<void> {
  const alive = new Map<string, boolean>();
  for (const holder of await host.store.read(() => holdersOfReservations())) {
    if (await isInFlight(host, holder, alive)) continue;
    await host.store.transaction(() => releaseReservationsOf(holder.callKey, holder.ownerId), "normal");
  }
}

async function isInFlight(host: Host, holder: Holder, alive: Map<string, boolean>): Promise<boolean> {
  const { ownerId, callKey } = holder;
  if (ownerId === host.ownerId) return host.atWork.withKey(callKey).length > 0;
  const isAlive = alive.get(ownerId) ?? (await host.isOwnerAlive(ownerId));
  alive.set(ownerId, isAlive);
  return isAlive;
}
