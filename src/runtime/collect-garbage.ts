/**
 * Retention. Active runs, and runs that wait for approval or for a worker, are never changed. Old runs are deleted one by one, each in its own
 * transaction, which checks again before it deletes.
 */
import { setImmediate } from "node:timers/promises";
import { checkOptions } from "../definition/option-table.ts";
import type { Host } from "../invoke/host.ts";
import { endReplay, giveUpReplay } from "../invoke/recording/keep-recording.ts";
import {
  deleteExpiredCache,
  deleteRun,
  failTasksOfRun,
  forgetInput,
  listBareRunsBefore,
  listOpenTurnsBefore,
  listWorkflowRunsBefore,
  readRunAge,
  type RunAge,
} from "../store/tables/retention.ts";
import { deleteOwner, listPastOwners } from "../store/tables/owners.ts";
import { sweepReaders } from "../store/tables/stream-readers.ts";
import { deleteUnusedLimits } from "../store/tables/tool-limits.ts";
import { deleteLostInputs, giveUpTurns } from "../store/tables/turns.ts";
import type { Transaction } from "../store/store.ts";
import { isProcessAlive } from "./process-identity.ts";
import { GC_OPTIONS } from "./method-options.ts";

export interface GcOptions {
  /** Runs that ended at least this long ago are deleted. Default 30 days. */
  readonly olderThanMs?: number | undefined;
  /** After this time, the data that a failed, stopped or abandoned run needs to resume is deleted. Default 7 days. */
  readonly replayOlderThanMs?: number | undefined;
  /** Counts, and changes nothing. */
  readonly dryRun?: boolean | undefined;
}

export interface GcReport {
  readonly deletedRuns: number;
  readonly deletedCalls: number;
  /** Runs whose model responses were deleted. A workflow starts a new attempt on resume; a loop cannot resume. */
  readonly clearedRuns: number;
  readonly expiredCacheEntries: number;
  readonly pastOwners: number;
}

type GcHost = Pick<Host, "store" | "clock" | "isOwnerAlive">;

const DAY_MS = 86_400_000;
const RUN_AGE_MS = 30 * DAY_MS;
const REPLAY_AGE_MS = 7 * DAY_MS;
/** A process on another host may be suspended, or disconnected from the database, for this long. */
const SILENT_OWNER_MS = 7 * DAY_MS;
/** A program that has opened a run may take this long until its first call. */
const UNUSED_RUN_MS = 3_600_000;

export async function collectGarbage(host: GcHost, options: GcOptions): Promise<GcReport> {
  checkOptions(GC_OPTIONS, options);
  const { olderThanMs = RUN_AGE_MS, replayOlderThanMs = REPLAY_AGE_MS, dryRun = false } = options;
  const sweep = new Sweep(host, dryRun);
  await setImmediate();
  const now = host.clock.now();
  const { deletedRuns, deletedCalls } = await deleteRuns(sweep, now, now - olderThanMs);
  await sweep.commit(deleteLostInputs);
  await sweep.commit(deleteUnusedLimits);
  await sweep.commit(sweepReaders);
  return {
    deletedRuns: deletedRuns.size,
    deletedCalls,
    clearedRuns: await clearRuns(sweep, deletedRuns, now, now - replayOlderThanMs),
    expiredCacheEntries: await sweep.commit(() => deleteExpiredCache(now)),
    pastOwners: await deleteOwners(sweep, olderThanMs),
  };
}

async function deleteRuns(
  sweep: Sweep,
  now: number,
  before: number,
): Promise<{ deletedRuns: Set<string>; deletedCalls: number }> {
  const deletedRuns = new Set<string>();
  let deletedCalls = 0;
  const remove = async (runId: string, mayGo: (age: RunAge) => boolean): Promise<void> => {
    const isFree = (age: RunAge): boolean => !age.hasOpenForks && mayGo(age);
    const calls = await sweep.changeRun(runId, before, isFree, () => deleteRun(runId, now));
    if (calls === undefined) return;
    deletedRuns.add(runId);
    deletedCalls += calls;
  };
  for (const status of ["finished", "failed", "cancelled"] as const) {
    for await (const runId of sweep.pages((after) => listWorkflowRunsBefore(status, before, after)))
      await remove(runId, (age) => age.status === status);
  }
  for await (const runId of sweep.pages((after) => listBareRunsBefore(before, after))) {
    await remove(runId, (age) => {
      const isUsed = age.calls > 0 || age.lastActiveMs < now - UNUSED_RUN_MS;
      return age.status === undefined && age.openCalls + age.openTurns === 0 && isUsed;
    });
  }
  return { deletedRuns, deletedCalls };
}

const FORGOTTEN = JSON.stringify({
  code: "WORKFLOW_TASK_FAILED",
  message: "It did not end, and retention deleted the data that it needs to resume.",
  hint: "Resume the run: it starts a new attempt, which receives a summary of the calls of this one.",
});

/** Returns the number of changed rows. */
function* forgetReplay(runId: string): Transaction<number> {
  const rows = (yield* giveUpReplay(runId)) + (yield* failTasksOfRun(runId, FORGOTTEN));
  return rows + (yield* forgetInput(runId));
}

async function clearRuns(
  sweep: Sweep,
  deletedRuns: ReadonlySet<string>,
  now: number,
  before: number,
): Promise<number> {
  let cleared = 0;
  for (const status of ["failed", "cancelled", "running"] as const) {
    for await (const runId of sweep.pages((after) => listWorkflowRunsBefore(status, before, after))) {
      if (deletedRuns.has(runId)) continue;
      const rows = await sweep.changeRun(
        runId,
        before,
        (age) => age.status === status,
        () => forgetReplay(runId),
      );
      if (rows !== undefined && rows > 0) cleared += 1;
    }
  }
  for await (const runId of sweep.pages((after) => listBareRunsBefore(before, after))) {
    if (deletedRuns.has(runId)) continue;
    const mayGo = (age: RunAge): boolean =>
      age.status === undefined && age.openTurns === 0 && !age.waitsForApproval;
    const rows = await sweep.changeRun(runId, before, mayGo, () => forgetReplay(runId));
    if (rows !== undefined && rows > 0) cleared += 1;
  }
  for await (const runId of sweep.pages((after) => listOpenTurnsBefore(before, after))) {
    const mayGo = (age: RunAge): boolean => !age.waitsForApproval;
    const turns = await sweep.changeRun(runId, before, mayGo, function* () {
      yield* endReplay({ runId });
      yield* forgetInput(runId);
      return yield* giveUpTurns(runId, now);
    });
    if (turns !== undefined && turns > 0) cleared += 1;
  }
  return cleared;
}

/** Keeps the row of a process that may be alive: without it, the process would count as dead. */
async function deleteOwners(sweep: Sweep, olderThanMs: number): Promise<number> {
  let deleted = 0;
  for (const owner of await sweep.host.store.read(() => listPastOwners(olderThanMs))) {
    const isAlive = owner.ended ? false : isProcessAlive(owner);
    if (isAlive === true) continue;
    const ageMs = isAlive === false ? olderThanMs : Math.max(olderThanMs, SILENT_OWNER_MS);
    if (owner.pastMs >= ageMs) deleted += await sweep.commit(() => deleteOwner(owner.id, ageMs));
  }
  return deleted;
}

const ROLLED_BACK = new Error("a dry run changes nothing");

class Sweep {
  readonly host: GcHost;
  readonly #dryRun: boolean;

  constructor(host: GcHost, dryRun: boolean) {
    this.host = host;
    this.#dryRun = dryRun;
  }

  /** A dry run does the same, and rolls back. */
  async commit<T>(work: () => Transaction<T>): Promise<T> {
    if (!this.#dryRun) return this.host.store.transaction(work, "normal");
    const done: T[] = [];
    try {
      await this.host.store.transaction(function* () {
        done.push(yield* work());
        throw ROLLED_BACK;
      }, "normal");
    } catch (error) {
      if (error !== ROLLED_BACK) throw error;
    }
    return done.at(-1) as T;
  }

  /** `undefined` if the run was not changed: it is not old enough, has changed since, or has a live owner. */
  async changeRun<T>(
    runId: string,
    before: number,
    mayChange: (age: RunAge) => boolean,
    work: () => Transaction<T>,
  ): Promise<T | undefined> {
    const { store, isOwnerAlive } = this.host;
    // SQLite answers within the same turn of the event loop, so this lets timers such as heartbeats run in between.
    await setImmediate();
    const isDue = (age: RunAge | undefined): age is RunAge =>
      age !== undefined && age.lastActiveMs <= before && !age.isForWorkers && mayChange(age);
    const seen = await store.read(() => readRunAge(runId));
    if (!isDue(seen)) return undefined;
    for (const ownerId of seen.ownerIds) if (await isOwnerAlive(ownerId)) return undefined;
    return this.commit(function* () {
      const age = yield* readRunAge(runId);
      // Another process may have taken it in the meantime.
      if (!isDue(age) || age.ownerIds.join() !== seen.ownerIds.join()) return undefined;
      return yield* work();
    });
  }

  async *pages(list: (after: string) => Transaction<string[]>): AsyncGenerator<string> {
    for (let after = ""; ;) {
      const ids = await this.host.store.read(() => list(after));
      yield* ids;
      const last = ids.at(-1);
      if (last === undefined) return;
      after = last;
    }
  }
}
