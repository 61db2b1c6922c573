/** Whether an owner is alive. One rule for every process that asks. */
import type { OwnerRow } from "../store/tables/owners.ts";
import { isProcessAlive } from "./process-identity.ts";

/**
 * On the same host the process table answers immediately; for other hosts only the lease does. The lease of a worker
 * decides on its own host too: a stopped worker has a process, and must be taken over.
 */
export function isOwnerLive(owner: OwnerRow): boolean {
  if (owner.ended) return false;
  const hasLease = owner.leaseLeftMs > 0;
  const hasProcess = isProcessAlive(owner);
  return owner.isWorker ? hasLease && hasProcess !== false : (hasProcess ?? hasLease);
}
