/** Lets calls in flight settle what they hold. What processes that are gone hold would be held for ever: it is dropped. */
import { dropReservationsOf, ownersOfReservations } from "../store/usage.ts";
import type { Call } from "./call.ts";

const PAUSE_MS = 15;

/** In real time: other processes have no other. */
export async function waitForReservations(call: Call): Promise<void> {
  const { host } = call;
  const owners = await host.store.read(() => ownersOfReservations());
  for (const ownerId of owners) {
    if (ownerId === host.ownerId || (await host.isOwnerAlive(ownerId))) continue;
    await host.store.transaction(() => dropReservationsOf(ownerId), "normal");
  }
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
