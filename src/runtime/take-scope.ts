/** Opens a task for one owner: a live one is never robbed, a dead one is replaced at once and cannot write any more. */
import type { ScopeIdentity } from "../definition/call-key.ts";
import { ToolwrightError } from "../errors.ts";
import type { Host } from "../invoke/host.ts";
import type { Transaction } from "../store/store.ts";
import { ensureScope, findScope, type ScopeRow, takeScope } from "../store/tables/scopes.ts";

/**
 * @param openAttempt the attempt of this task that this very runtime has open, if any
 * @param guard throws, in the same transaction, where the task may not be taken at all
 */
export async function takeScopeFor(
  host: Host,
  identity: ScopeIdentity,
  attempt: number,
  openAttempt: () => number | undefined,
  guard?: () => Transaction<void>,
): Promise<ScopeRow> {
  for (;;) {
    const found = await host.store.read(() => findScope(identity));
    const holder = found?.ownerId ?? null;
    if (found !== undefined && attempt < found.attempt) throw stale(identity, attempt, found.attempt);
    if (holder !== null && (await isHeld(host, holder, attempt, openAttempt()))) throw conflict(identity);
    const taken = await host.store.transaction(function* () {
      if (guard !== undefined) yield* guard();
      const row = yield* ensureScope(identity, attempt, host.clock.now());
      // Somebody else was faster: judge that one.
      if (row.ownerId !== holder) return undefined;
      return { ...row, attempt, ownerId: host.ownerId, epoch: yield* takeScope(row.id, host.ownerId) };
    }, "normal");
    if (taken !== undefined) return taken;
  }
}

/** The next attempt of a task may follow in the process that still has the last one open: it replaces it. */
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
    `Task "${nodeId}" of run "${runId}" is open already, here or in another process that is alive.`,
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
    `Attempt ${attempt} of task "${nodeId}" in run "${runId}" is over: it calls nothing any more.`,
    { details: { runId, nodeId, attempt } },
  );
}
