/**
 * Takes a task for one owner. It never takes over from a live owner; a dead owner is replaced immediately and fenced
 * out.
 */
import type { ScopeIdentity } from "../definition/call-key.ts";
import { ToolwrightError } from "../errors.ts";
import { encodeCleanError } from "../invoke/error-record.ts";
import { emitTakeover } from "../invoke/emit-takeover.ts";
import type { Host } from "../invoke/host.ts";
import type { Transaction } from "../store/store.ts";
import { type HeldClaim, holdClaim, readClaim, takeFromWorker } from "../store/tables/program-claims.ts";
import { runReverted } from "../store/tables/tombstones.ts";
import { reopenRun, type RunStart, settleRun } from "../store/tables/runs.ts";
import {
  ensureScope,
  epochAfter,
  findScope,
  type ScopeRow,
  takeScope,
  untakeScope,
} from "../store/tables/scopes.ts";

/**
 * @param run how the run is listed, if it is new
 * @param openAttempt the attempt of this task that this runtime has open, if any
 * @param guard runs in the same transaction, and throws if the task cannot be taken
 */
export async function takeScopeFor(
  host: Host,
  identity: ScopeIdentity,
  attempt: number,
  run: Omit<RunStart, "ownerId">,
  openAttempt: () => number | undefined,
  guard?: () => Transaction<void>,
): Promise<ScopeRow> {
  for (;;) {
    const found = await host.store.read(() => findScope(identity));
    const holder = found?.ownerId ?? null;
    if (found !== undefined && attempt < found.attempt) throw stale(identity, attempt, found.attempt);
    if (holder !== null && (await isHeld(host, holder, attempt, openAttempt()))) throw conflict(identity);
    const isOfWorkflow = run.kind === "workflow";
    const claim = isOfWorkflow ? undefined : await otherClaim(host, identity.runId);
    if (claim?.isAlive === true) throw conflict(identity);
    const take = function* (): Transaction<ScopeRow | undefined> {
      if (guard !== undefined) yield* guard();
      yield* assertClaimed(host, identity.runId);
      const now = host.clock.now();
      const { ownerId } = host;
      const row = yield* ensureScope(identity, attempt, now, { ...run, ownerId });
      if (row.isSealed) throw runReverted(identity.runId);
      // Another owner took the scope first: check that owner.
      if (row.ownerId !== holder) return undefined;
      const resumer = { kind: run.kind, scopeId: row.id };
      if (claim !== undefined && !(yield* takeFromWorker(identity.runId, claim, resumer))) return undefined;
      if (row.isOfNewRun !== true && !isOfWorkflow) {
        yield* reopenRun(identity.runId, { ...run, ownerId }, now);
        // A worker has claimed the run since the claim was read: check that worker.
        if (isOther(host, identity.runId, yield* readClaim(identity.runId))) return undefined;
      }
      return { ...row, attempt, ownerId: host.ownerId, epoch: yield* takeScope(row.id, host.ownerId) };
    };
    const name = `take ${JSON.stringify(identity)} ${epochAfter(found)}`;
    const taken = await host.failedWrites.claim(name, take, function* (error) {
      const isReleased = yield* untakeScope(identity, found, host.ownerId);
      if (isReleased && run.kind !== "workflow")
        yield* settleRun(identity.runId, encodeCleanError(error), host.clock.now());
    });
    if (taken === undefined) continue;
    const isTakeover = holder !== null && holder !== host.ownerId && run.kind !== "workflow";
    const { kind, name: runName } = run;
    emitTakeover(host, { runId: identity.runId, kind, name: runName, takeovers: isTakeover ? 1 : undefined });
    return taken;
  }
}

/** A run that a worker has claimed belongs to it until another one claims it. */
function* assertClaimed({ claimed }: Host, runId: string): Transaction<void> {
  const epoch = claimed.get(runId)?.epoch;
  if (epoch === undefined || (yield* holdClaim(runId, epoch))) return;
  throw new ToolwrightError("TOOL_RUN_FENCED", `Another worker has taken over run "${runId}".`, {
    details: { runId },
  });
}

/** The claim of a worker elsewhere. A program may open its run with another runtime than that of its worker. */
async function otherClaim(
  host: Host,
  runId: string,
): Promise<(HeldClaim & { readonly isAlive: boolean }) | undefined> {
  const claim = await host.store.read(() => readClaim(runId));
  if (claim === undefined) return undefined;
  const isAlive = await host.isOwnerAlive(claim.ownerId);
  return isAlive && !isOther(host, runId, claim) ? undefined : { ...claim, isAlive };
}

function isOther(host: Host, runId: string, claim: HeldClaim | undefined): boolean {
  return claim !== undefined && !host.claimed.has(runId) && !host.isOwnerHere(claim.ownerId);
}

/** A process may start the next attempt while it still has the last one open: the next one replaces it. */
async function isHeld(
  host: Host,
  holder: string,
  attempt: number,
  openAttempt: number | undefined,
): Promise<boolean> {
  if (holder !== host.ownerId) return host.isOwnerAlive(holder);
  return openAttempt !== undefined && openAttempt >= attempt;
}

function conflict({ runId, nodeId }: ScopeIdentity): ToolwrightError {
  return new ToolwrightError(
    "TOOL_RUN_CONFLICT",
    `Task "${nodeId}" of run "${runId}" is already open, here or in another live process.`,
    { details: { runId, nodeId } },
  );
}

function stale({ runId, nodeId }: ScopeIdentity, attempt: number, current: number): ToolwrightError {
  return new ToolwrightError(
    "TOOL_ATTEMPT_STALE",
    `Attempt ${attempt} of task "${nodeId}" in run "${runId}" is over: attempt ${current} has replaced it.`,
    { details: { runId, nodeId, attempt, current } },
  );
}

export function taskOver({
  identity: { runId, nodeId },
  attempt,
}: {
  readonly identity: ScopeIdentity;
  readonly attempt: number;
}): ToolwrightError {
  return new ToolwrightError(
    "TOOL_ATTEMPT_STALE",
    `Attempt ${attempt} of task "${nodeId}" in run "${runId}" is over: it can no longer call tools.`,
    { details: { runId, nodeId, attempt } },
  );
}
