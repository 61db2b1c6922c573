/**
 * Finds the runs of dead owners and makes them ready, and runs whose time has come. On its own host the process table shows
 * immediately that an owner is gone; elsewhere its lease does, and the sweep says when to look again.
 */
import type { Host } from "../invoke/host.ts";
import { isProcessAlive, type ProcessIdentity } from "../runtime/process-identity.ts";
import { isOwnerLive } from "../runtime/owner-liveness.ts";
import type { OwnerRow } from "../store/tables/owners.ts";
import { promoteDue, readNextDue } from "../store/tables/queue.ts";
import {
  declareDead,
  listOwnersAtWork,
  readyRunsOf,
  readyRunsWithoutOwner,
  type TakeoverStatements,
} from "../store/tables/takeovers.ts";

export interface Sweep {
  /** Whether runs became ready. */
  readonly found: boolean;
  /** When something may happen next: a lease ends, or a run is due. */
  readonly nextMs: number;
  /** Living owners on this host: their processes can be watched without the store. */
  readonly neighbours: readonly ProcessIdentity[];
}

export async function sweep(host: Host, statements: TakeoverStatements): Promise<Sweep> {
  const { owners, dueInMs } = await host.store.read(function* () {
    return { owners: yield* listOwnersAtWork(statements), dueInMs: yield* readNextDue() };
  });
  let found = false;
  const others = owners.filter(({ id }) => id !== host.ownerId);
  const dead = others.filter((owner) => !isOwnerLive(owner));
  for (const owner of dead) found = (await takeFrom(host, statements, owner)) > 0 || found;
  if (dueInMs !== null && dueInMs <= 0)
    found = (await host.store.transaction(promoteDue, "normal")) > 0 || found;
  const living = others.filter((owner) => !dead.includes(owner));
  return {
    found,
    nextMs: Math.min(
      dueInMs === null || dueInMs <= 0 ? Infinity : dueInMs,
      ...living.map(({ leaseLeftMs }) => (leaseLeftMs > 0 ? leaseLeftMs : Infinity)),
    ),
    neighbours: living.filter((owner) => owner.host === host.machine),
  };
}

function takeFrom(
  host: Host,
  statements: TakeoverStatements,
  { id, host: where, pid, processStart }: OwnerRow,
): Promise<number> {
  const isGone = isProcessAlive({ host: where, pid, processStart }) === false;
  return host.store.transaction(function* () {
    // Other workers need not find that out again.
    if (isGone) yield* declareDead(id);
    return yield* readyRunsOf(statements, id);
  }, "normal");
}

/** Once at the start: retention may have deleted the rows of owners that died long ago. */
export async function sweepOrphans(host: Host, statements: TakeoverStatements): Promise<void> {
  await host.store.transaction(() => readyRunsWithoutOwner(statements), "normal");
}

export function isAnyGone(neighbours: readonly ProcessIdentity[]): boolean {
  return neighbours.some((owner) => isProcessAlive(owner) === false);
}
