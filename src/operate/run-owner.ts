/** The process that owns a run, if it is alive. */
import { hostname } from "node:os";
import type { Store } from "../store/store.ts";
import { readOwner } from "../store/tables/owners.ts";
import { readRun } from "../store/tables/workflow-runs.ts";
import { isOwnerLive } from "../runtime/owner-liveness.ts";
import { identifyProcess } from "../runtime/process-identity.ts";

export interface LivingOwner {
  readonly pid: number;
  readonly isHere: boolean;
}

/** `undefined` if there is no owner, or if it is dead. */
export async function readLivingOwner(
  store: Store,
  ownerId: string | null,
): Promise<LivingOwner | undefined> {
  if (ownerId === null) return undefined;
  const owner = await store.read(() => readOwner(ownerId));
  if (owner === undefined) return undefined;
  return isOwnerLive(owner) ? { pid: owner.pid, isHere: owner.host === identifyProcess().host } : undefined;
}

export async function readOwnerOfRun(store: Store, runId: string): Promise<LivingOwner | undefined> {
  return readLivingOwner(store, (await store.read(() => readRun(runId)))?.ownerId ?? null);
}

/** Readers of the call log report the calls of dead owners as `unknown`. */
export function livenessIn(store: Store): (ownerId: string) => Promise<boolean> {
  return async (ownerId) => (await readLivingOwner(store, ownerId)) !== undefined;
}

export function describeOwner({ pid, isHere }: LivingOwner): string {
  return isHere ? `process ${pid} on ${hostname()}` : `process ${pid} on another machine`;
}
