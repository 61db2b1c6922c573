/** The scopes of the tasks that this runtime runs and owns. */
import type { RunKind } from "../invoke/events.ts";
import type { Host } from "../invoke/host.ts";
import { Scope } from "../invoke/scope.ts";
import { forgetHiddenInput, keepProgramInput } from "../store/tables/recordings.ts";
import { settleRun } from "../store/tables/runs.ts";
import { releaseScope, type ScopeRow } from "../store/tables/scopes.ts";
import type { Transaction } from "../store/store.ts";
import { KeyedQueue } from "../util/keyed-queue.ts";
import type { RunScopeOptions } from "./runtime.ts";
import { takeScopeFor } from "./take-scope.ts";
import { identityOf } from "./task-identity.ts";

export interface ScopeEnd {
  /** Why the work of the scope failed. */
  readonly errorJson: string | null;
  /** The work ended because a call waits for approval. */
  readonly isWaiting: boolean;
}

export interface OpenedScope {
  readonly scope: Scope;
  /** Resolves when this runtime owns the scope, rejects if another owner has it. */
  readonly owned: Promise<ScopeRow>;
  close(ended?: ScopeEnd): Promise<void>;
  /**
   * Closes it in the transaction that stores its result, so that no run is listed as running whose result is stored. Rejects if
   * nothing was committed; the scope then still has to be closed.
   */
  closeWith(store: () => Transaction<void>, ended: ScopeEnd): Promise<void>;
}

export interface OpenOptions {
  /** Runs in the transaction that takes the scope. Throws if this process can no longer write to the run. */
  readonly guard?: (() => Transaction<void>) | undefined;
  /** The id under which budgets, cache and breakers are stored. Default: the run id. */
  readonly budgetId?: string | undefined;
  /** Default: `program`. */
  readonly kind?: RunKind | undefined;
  readonly name?: string | undefined;
  /** What a worker that resumes the run needs. Only for a run with a name that workers may know. */
  readonly inputJson?: string | undefined;
  /** Calls pass the turn of the chat that they belong to. */
  readonly hasTurns?: boolean | undefined;
}

export class OpenScopes {
  readonly #host: Host;
  readonly #open = new Map<string, { attempt: number }>();
  readonly #queue = new KeyedQueue();
  /** The number of scopes of each run whose streams are open. */
  readonly #perRun = new Map<string, number>();
  /** The run of each scope from the start of its opening until its release is stored, or has failed. */
  readonly #runs = new Map<object, string>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** Whether a scope of the run is open here. */
  hasAny(runId: string): boolean {
    return this.#runs.values().some((other) => other === runId);
  }

  /** Takes the scope in the store. `owned` resolves when that is committed. */
  open(
    task: RunScopeOptions,
    {
      guard,
      kind = "program",
      name: runName = "",
      budgetId = task.runId,
      hasTurns,
      inputJson,
    }: OpenOptions = {},
  ): OpenedScope {
    const { identity, attempt } = identityOf(task);
    const host = this.#host;
    const name = JSON.stringify(identity);
    const mark = { attempt };
    this.#runs.set(mark, task.runId);
    this.#perRun.set(task.runId, (this.#perRun.get(task.runId) ?? 0) + 1);
    // The commit may be visible in the store before its caller here continues, so the next caller waits for that one.
    const owned = this.#queue.run(name, async () => {
      const isRecorded = host.recording === "keep";
      const run = { kind, name: runName, labels: task.labels, inputJson, isRecorded };
      const openAttempt = (): number | undefined => this.#open.get(name)?.attempt;
      const row = await takeScopeFor(host, identity, attempt, run, openAttempt, guard);
      this.#open.set(name, mark);
      return row;
    });
    const { runId } = identity;
    let isCounted = true;
    const leaveStreams = async (): Promise<void> => {
      if (!isCounted) return;
      isCounted = false;
      if (this.#leave(runId)) await host.streams.leave(runId);
    };
    // A scope that belongs to another owner is never closed here.
    owned.catch(() => {
      this.#runs.delete(mark);
      void leaveStreams();
    });
    const release = (row: ScopeRow, ended: ScopeEnd): (() => Transaction<void>) =>
      this.#release(row, kind === "workflow" ? undefined : { runId, kind, ...ended });
    const forget = (): void => {
      if (this.#open.get(name) === mark) this.#open.delete(name);
    };
    const { limits, settings } = task;
    const released = host.claimed.get(identity.runId)?.release.signal;
    const signal =
      released === undefined || task.signal === undefined
        ? (task.signal ?? released)
        : AbortSignal.any([task.signal, released]);
    return {
      scope: new Scope(host, {
        identity,
        attempt,
        kind,
        limits,
        budgetId,
        settings,
        signal,
        owned,
        hasTurns,
      }),
      owned,
      close: async (ended = { errorJson: null, isWaiting: false }) => {
        forget();
        // A scope that could not be taken must not be released.
        const row = await owned.catch(() => undefined);
        // Before the release: a reader that sees the end of the run finds all of its parts.
        await leaveStreams();
        if (row === undefined) return;
        const work = release(row, ended);
        await host.store.transaction(work, "normal").catch(() => {
          // The outcome stands. The release is retried until the store answers, so that others can take the scope.
          host.failedWrites.add(`scope ${row.id}`, work);
        });
        this.#runs.delete(mark);
        host.streams.left();
      },
      closeWith: async (store, ended) => {
        const row = await owned;
        await host.streams.beforeDeletion(runId);
        await leaveStreams();
        const work = release(row, ended);
        await host.store.transaction(function* () {
          yield* store();
          yield* work();
        }, "normal");
        forget();
        this.#runs.delete(mark);
        host.streams.left();
      },
    };
  }

  /** Whether this was the last open scope of the run. */
  #leave(runId: string): boolean {
    const left = (this.#perRun.get(runId) ?? 1) - 1;
    if (left > 0) this.#perRun.set(runId, left);
    else this.#perRun.delete(runId);
    return left <= 0;
  }

  #release(
    { id, epoch }: ScopeRow,
    run: ({ readonly runId: string; readonly kind: RunKind } & ScopeEnd) | undefined,
  ): () => Transaction<void> {
    const now = this.#host.clock.now();
    const isRecorded = this.#host.recording === "keep";
    return function* () {
      const isReleased = yield* releaseScope(id, epoch);
      if (!isReleased || run === undefined) return;
      const { runId, kind, errorJson, isWaiting } = run;
      // Before the run may end, which deletes its input.
      if (isRecorded) yield* kind === "program" ? keepProgramInput(runId) : forgetHiddenInput(runId);
      yield* settleRun(runId, errorJson, now, isWaiting);
    };
  }
}
