/** Claims of runs that are not workflows: agents and programs. The claim is held until the worker ends it. */
import { readInteger, readTextOrNull } from "./columns.ts";
import { change, first, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { markReady } from "./queue.ts";
import type { RunKind } from "../run-words.ts";
import { IS_FOR_WORKERS, keptForWorkers, readRunRow, settleRun } from "./runs.ts";
import { sealOtherScopes, sealRun } from "./scopes.ts";
import { countTakeover } from "./takeovers.ts";

export interface ClaimableProgram {
  readonly epoch: number;
  readonly ownerId: string | null;
  readonly inputJson: string | null;
}

const READ = `SELECT claim_epoch, owner_id, input_json FROM toolwright_runs
WHERE id = ?1 AND status = 'open' AND kind <> 'workflow' AND state NOT IN ('finished', 'failed', 'cancelled')`;

/** `undefined` when there is no such run, or when it has ended. */
export function* readProgram(runId: string): Transaction<ClaimableProgram | undefined> {
  const row = yield* first(READ, runId);
  if (row === undefined) return undefined;
  return {
    epoch: readInteger(row, "claim_epoch"),
    ownerId: readTextOrNull(row, "owner_id"),
    inputJson: readTextOrNull(row, "input_json"),
  };
}

/** What an agent or a program was started with. */
export interface ProgramInput {
  /** `null` when it is not stored: a run that has finished holds none. */
  readonly inputJson: string | null;
  /** Of the input that was enqueued. */
  readonly inputHash: string | null;
  readonly isEnqueued: boolean;
}

export function* readProgramInput(runId: string): Transaction<ProgramInput | undefined> {
  const row = yield* first(
    "SELECT input_json, input_hash, position FROM toolwright_runs WHERE id = ?1",
    runId,
  );
  return (
    row && {
      inputJson: readTextOrNull(row, "input_json"),
      inputHash: readTextOrNull(row, "input_hash"),
      isEnqueued: readInteger(row, "position") > 0,
    }
  );
}

export interface ProgramClaim {
  readonly ownerId: string;
  readonly nowMs: number;
  /** The error of a run that was taken over `most` times in a row without progress. */
  readonly crashLoop: { readonly most: number; readonly errorJson: string };
}

export interface ClaimedProgram {
  readonly epoch: number;
  /** From a dead owner: how often in a row without progress. */
  readonly takeovers: number | undefined;
}

/**
 * `undefined` when another worker has claimed the run first, or its own program has resumed it. Every scope that an earlier
 * owner has open is fenced.
 */
export function* claimProgram(
  runId: string,
  checked: ClaimableProgram,
  { ownerId, nowMs, crashLoop }: ProgramClaim,
): Transaction<ClaimedProgram | undefined> {
  const row = yield* first(`${READ} {update}`, runId);
  if (row === undefined || readInteger(row, "claim_epoch") !== checked.epoch) return undefined;
  if (readTextOrNull(row, "owner_id") !== checked.ownerId) return undefined;
  const isTakeover = readTextOrNull(row, "owner_id") !== null;
  yield* sealRun(runId);
  const takeovers = isTakeover ? yield* countTakeover(runId) : undefined;
  const epoch = checked.epoch + 1;
  yield* change(
    `UPDATE toolwright_runs SET claim_epoch = ?2, claimed_by = ?3, owner_id = ?3, state = 'running', error_json = NULL,
       updated_at_ms = ?4, finished_at_ms = NULL, ready_at_ms = NULL, is_due = 0, parked = NULL WHERE id = ?1`,
    runId,
    epoch,
    ownerId,
    nowMs,
  );
  if (takeovers === undefined || takeovers <= crashLoop.most) return { epoch, takeovers };
  yield* endProgram(runId, { epoch, ownerId }, crashLoop.errorJson, nowMs);
  return undefined;
}

const CLAIM = "SELECT claim_epoch, claimed_by FROM toolwright_runs WHERE id = ?1";

/** Whether the claim still holds; locks the run, which the caller then lists as running, until the transaction ends. */
export function* holdClaim(runId: string, epoch: number): Transaction<boolean> {
  return isHeld(yield* first(`${CLAIM} {update}`, runId), epoch);
}

/** The same for a caller that does not change the run: several of them hold it at once. */
export function* isClaimed(runId: string, epoch: number): Transaction<boolean> {
  return isHeld(yield* first(`${CLAIM} {share}`, runId), epoch);
}

function isHeld(row: Row | undefined, epoch: number): boolean {
  if (row === undefined || readInteger(row, "claim_epoch") !== epoch) return false;
  // A run that was given back keeps its epoch until the next worker takes it.
  return readTextOrNull(row, "claimed_by") !== null;
}

/** A claim that a worker holds. */
export interface HeldClaim {
  readonly epoch: number;
  readonly ownerId: string;
}

/** The claim of a worker on this run. `undefined` when no worker holds it. */
export function* readClaim(runId: string): Transaction<HeldClaim | undefined> {
  const row = yield* first(CLAIM, runId);
  const ownerId = row === undefined ? null : readTextOrNull(row, "claimed_by");
  return row === undefined || ownerId === null
    ? undefined
    : { epoch: readInteger(row, "claim_epoch"), ownerId };
}

/** What opens a task of the run of a dead worker. */
export interface Resumer {
  readonly kind: RunKind;
  /** The scope that it takes, with an epoch of its own. */
  readonly scopeId: number;
}

/**
 * The run's own program resumes it after its worker has died: the run belongs to that program, and the worker is fenced.
 * Otherwise the run would still be listed as the dead worker's, and another worker would take it from the program.
 * `false` when the claim has changed since it was read.
 * @throws TOOL_RUN_TAKEN for an agent that something else does not continue
 */
export function* takeFromWorker(
  runId: string,
  claim: HeldClaim,
  { kind, scopeId }: Resumer,
): Transaction<boolean> {
  const { epoch, ownerId } = claim;
  const changes = yield* change(
    `UPDATE toolwright_runs SET claimed_by = NULL, claim_epoch = claim_epoch + 1, ready_at_ms = NULL, is_due = 0
     WHERE id = ?1 AND claim_epoch = ?2 AND claimed_by = ?3 AND (kind <> 'agent' OR ?4 = 'agent')`,
    runId,
    epoch,
    ownerId,
    kind,
  );
  if (changes > 0) {
    yield* sealOtherScopes(runId, ownerId, scopeId);
    return true;
  }
  const held = yield* readClaim(runId);
  const row = held?.epoch === epoch ? yield* readRunRow(runId) : undefined;
  if (row !== undefined && row.kind !== kind) throw keptForWorkers(row);
  return false;
}

function* dropClaim(runId: string, { epoch, ownerId }: HeldClaim): Transaction<boolean> {
  const sql =
    "UPDATE toolwright_runs SET claimed_by = NULL WHERE id = ?1 AND claim_epoch = ?2 AND claimed_by = ?3";
  return (yield* change(sql, runId, epoch, ownerId)) > 0;
}

/**
 * A decision was made while the program ran, after the program had seen that its call waits: the call has not been made again
 * with it. Taking the run has cleared the marker, so a program that no longer makes the call ends.
 */
const IS_DECIDED = `SELECT 1 FROM toolwright_runs r WHERE r.id = ?1 AND r.is_due = 1 AND EXISTS (
  SELECT 1 FROM toolwright_approvals a JOIN toolwright_calls c ON c.scope_id = a.scope_id AND c.key = a.call_key
  WHERE a.run_id = ?1 AND a.status IN ('approved', 'denied') AND a.redeemed_at_ms IS NULL
    AND c.status NOT IN ('success', 'error', 'denied'))`;

const IS_FINISHED = "SELECT 1 AS one FROM toolwright_runs WHERE id = ?1 AND state = 'finished'";

/** The program has returned or thrown. It waits if one of its calls waits for approval. Returns whether it has finished. */
export function* endProgram(
  runId: string,
  claim: HeldClaim,
  errorJson: string | null,
  nowMs: number,
): Transaction<boolean> {
  if (!(yield* dropClaim(runId, claim))) return false;
  const isDecided = (yield* first(IS_DECIDED, runId)) !== undefined;
  yield* settleRun(runId, errorJson, nowMs, isDecided);
  return (yield* first(IS_FINISHED, runId)) !== undefined;
}

/** The worker gives the run back: another worker may take it immediately. */
export function* releaseProgram(runId: string, claim: HeldClaim, nowMs: number): Transaction<void> {
  if (!(yield* dropClaim(runId, claim))) return;
  yield* sealRun(runId);
  yield* change(
    "UPDATE toolwright_runs SET state = 'queued', owner_id = NULL, updated_at_ms = ?2 WHERE id = ?1",
    runId,
    nowMs,
  );
  yield* markReady(runId);
}

/** Not a program whose input is no longer stored: it would run without it. */
const MAY_RUN_AGAIN = `status = 'open' AND kind <> 'workflow' AND state IN ('failed', 'cancelled') AND claim_epoch > 0
  AND ${IS_FOR_WORKERS}`;

/** Whether the agent or program has failed or was cancelled, and a worker that ran it before can run it again. */
export function* mayQueueAgain(runId: string): Transaction<boolean> {
  const row = yield* first(`SELECT 1 AS one FROM toolwright_runs WHERE id = ?1 AND ${MAY_RUN_AGAIN}`, runId);
  return row !== undefined;
}

/** A run that failed or was cancelled, and that a worker has run before, waits for a worker again. */
export function queueProgramAgain(runId: string, nowMs: number): Transaction<number> {
  return change(
    `UPDATE toolwright_runs SET state = 'queued', owner_id = NULL, claimed_by = NULL, error_json = NULL, finished_at_ms = NULL,
       updated_at_ms = ?2
     WHERE id = ?1 AND ${MAY_RUN_AGAIN}`,
    runId,
    nowMs,
  );
}
