/**
 * Whether a reservation belongs to a call in flight. Reservations of a dead process do not; neither do those of this
 * runtime's calls whose outcome could not be stored.
 */
import type { Holder } from "../store/tables/usage.ts";
import type { Host } from "./host.ts";

/** @param alive what is known about owners, for several holders in a row */
export async function isInFlight(host: Host, holder: Holder, alive: Map<string, boolean>): Promise<boolean> {
  const { ownerId, callKey } = holder;
  if (ownerId === host.ownerId) return host.waitGraph.withKey(callKey).length > 0;
  const isAlive = alive.get(ownerId) ?? (await host.isOwnerAlive(ownerId));
  alive.set(ownerId, isAlive);
  return isAlive;
}
