/** The scopes of the tasks that this runtime runs and owns. */
import type { RunKind } from "../invoke/events.ts";
import type { Host } from "../invoke/host.ts";
import { Scope } from "../invoke/scope.ts";
import { releaseScope, type ScopeRow } from "../store/tables/scopes.ts";
import type { Transaction } from "../store/store.ts";
import { KeyedQueue } from "../util/keyed-queue.ts";
import type { RunScopeOptions } from "./runtime.ts";
import { takeScopeFor } from "./take-scope.ts";
import { identityOf } from "./task-identity.ts";

export interface OpenedScope {
  readonly scope: Scope;
  /** Resolves when this runtime owns the scope, rejects if another owner has it. */
  readonly owned: Promise<ScopeRow>;
  close(): Promise<void>;
}

export interface OpenOptions {
  /** Runs in the transaction that takes the scope. Throws if this process can no longer write to the run. */
  readonly guard?: (() => Transaction<void>) | undefined;
  /** The id under which budgets, cache and breakers are stored. Default: the run id. */
  readonly budgetId?: string | undefined;
  readonly kind?: RunKind | undefined;
  /** Calls pass the turn of the chat that they belong to. */
  readonly hasTurns?: boolean | undefined;
}

export class OpenScopes {
  readonly #host: Host;
  readonly #open = new Map<string, { attempt: number }>();
  readonly #queue = new KeyedQueue();

  constructor(host: Host) {
    this.#host = host;
  }

  /** Takes the scope in the store. `owned` resolves when that is committed. */
  open(
    task: RunScopeOptions,
    { guard, kind, budgetId = task.runId, hasTurns }: OpenOptions = {},
  ): OpenedScope {
    const { identity, attempt } = identityOf(task);
    const host = this.#host;
    const name = JSON.stringify(identity);
    const mark = { attempt };
    // The commit may be visible in the store before its caller here continues, so the next caller waits for that one.
    const owned = this.#queue.run(name, async () => {
      const row = await takeScopeFor(host, identity, attempt, () => this.#open.get(name)?.attempt, guard);
      this.#open.set(name, mark);
      return row;
    });
    const { limits, settings, signal } = task;
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
      close: async () => {
        if (this.#open.get(name) === mark) this.#open.delete(name);
        // A scope that could not be taken must not be released.
        const row = await owned.catch(() => undefined);
        if (row !== undefined) await this.#release(row.id, row.epoch);
      },
    };
  }

  async #release(scopeId: number, epoch: number): Promise<void> {
    try {
      await this.#host.store.transaction(() => releaseScope(scopeId, epoch), "normal");
    } catch {
      // The result of `work` stands. The release is retried until the store answers, so that others can take the scope.
      this.#host.failedWrites.add(`scope ${scopeId}`, () => releaseScope(scopeId, epoch));
    }
  }
}
