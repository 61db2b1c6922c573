/** The scopes of the tasks that a runtime is at work on, each taken from the store. */
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
  /** Resolves when it is ours, rejects when somebody else has it. */
  readonly owned: Promise<ScopeRow>;
  close(): Promise<void>;
}

export interface OpenOptions {
  /** Throws, in the transaction that takes the scope, where this process may not write to the run any more. */
  readonly guard?: (() => Transaction<void>) | undefined;
  /** What budgets, cache and breakers are kept under. Default: the run. */
  readonly budgetId?: string | undefined;
  readonly kind?: RunKind | undefined;
  /** Calls say which turn of a chat they belong to. */
  readonly hasTurns?: boolean | undefined;
}

export class OpenScopes {
  readonly #host: Host;
  readonly #open = new Map<string, { attempt: number }>();
  readonly #queue = new KeyedQueue();

  constructor(host: Host) {
    this.#host = host;
  }

  /** Takes it from the store; resolves as owned when that is done. */
  open(
    task: RunScopeOptions,
    { guard, kind, budgetId = task.runId, hasTurns }: OpenOptions = {},
  ): OpenedScope {
    const { identity, attempt } = identityOf(task);
    const host = this.#host;
    const name = JSON.stringify(identity);
    const mark = { attempt };
    // The store may show a task as taken before whoever took it here has heard so: the next one waits for that.
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
        // One that could not be taken is not ours to let go.
        const row = await owned.catch(() => undefined);
        if (row !== undefined) await this.#release(row.id, row.epoch);
      },
    };
  }

  async #release(scopeId: number, epoch: number): Promise<void> {
    try {
      await this.#host.store.transaction(() => releaseScope(scopeId, epoch), "normal");
    } catch {
      // The result of `work` counts. The scope is released as soon as the store answers, so that others may take it.
      this.#host.failedWrites.add(`scope ${scopeId}`, () => releaseScope(scopeId, epoch));
    }
  }
}
