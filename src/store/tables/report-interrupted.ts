/** Rule 36: every reader reports a call whose owner is dead as `unknown`. */
import type { CallStatus } from "./calls.ts";

interface OwnedCall {
  readonly status: CallStatus;
  readonly ownerId: string | null;
}

export type IsOwnerAlive = (ownerId: string) => Promise<boolean>;

/**
 * Reads calls, and reads them again when an owner is dead: it may have ended its calls between the first read and its own
 * end. Calls of dead owners that are still started then were interrupted.
 */
export async function reportInterrupted<Read>(
  read: () => Promise<Read>,
  callsIn: (found: Read) => readonly OwnedCall[],
  isOwnerAlive: IsOwnerAlive,
): Promise<{ readonly found: Read; readonly reported: <T extends OwnedCall>(call: T) => T }> {
  const found = await read();
  const owners = new Set(callsIn(found).flatMap((call) => (call.status === "started" ? [call.ownerId] : [])));
  const dead = new Set<string | null>();
  for (const ownerId of owners) if (ownerId === null || !(await isOwnerAlive(ownerId))) dead.add(ownerId);
  return {
    found: dead.size === 0 ? found : await read(),
    reported: (call) =>
      call.status === "started" && dead.has(call.ownerId) ? { ...call, status: "unknown" } : call,
  };
}
