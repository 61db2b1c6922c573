/** Who has a run in hand now, if anybody. */
import { hostname } from "node:os";
import { readOwner } from "../store/tables/owners.ts";
import type { Store } from "../store/store.ts";
import { identifyProcess, isProcessAlive } from "../util/process-identity.ts";

export interface LivingOwner {
  readonly pid: number;
  readonly isHere: boolean;
}

/** `undefined` when nobody has it, or whoever had it is gone. */
export async function readLivingOwner(
  store: Store,
  ownerId: string | null,
): Promise<LivingOwner | undefined> {
  if (ownerId === null) return undefined;
  const owner = await store.read(() => readOwner(ownerId));
  if (owner === undefined || owner.ended) return undefined;
  const isAlive = isProcessAlive(owner) ?? owner.leaseLeftMs > 0;
  return isAlive ? { pid: owner.pid, isHere: owner.host === identifyProcess().host } : undefined;
}

/** For readers of calls. */
export function ownersOf(store: Store): (ownerId: string) => Promise<boolean> {
  return async (ownerId) => (await readLivingOwner(store, ownerId)) !== undefined;
}

export function describeOwner({ pid, isHere }: LivingOwner): string {
  return isHere ? `process ${pid} on ${hostname()}` : `process ${pid} on another machine`;
}
