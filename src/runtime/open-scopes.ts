/** The scopes that a runtime has open: those of tasks, each taken from the store, and those of bare calls. */
import { randomUUID } from "node:crypto";
import { scopeText } from "../definition/call-key.ts";
import type { Host } from "../invoke/host.ts";
import { Scope } from "../invoke/scope.ts";
import { releaseScope, type ScopeRow } from "../store/scopes.ts";
import type { Transaction } from "../store/store.ts";
import { Turns } from "../util/turns.ts";
import type { RuntimeCallOptions, RunScopeOptions } from "./runtime.ts";
import { takeScopeFor } from "./take-scope.ts";
import { identityOf } from "./task-identity.ts";

export interface OpenedScope {
  readonly scope: Scope;
  /** Resolves when it is ours, rejects when somebody else has it. */
  readonly owned: Promise<ScopeRow>;
  close(): Promise<void>;
}

export class OpenScopes {
  readonly #host: Host;
  readonly #bare = new Map<string, Scope>();
  readonly #open = new Map<string, { attempt: number }>();
  readonly #turns = new Turns();

  constructor(host: Host) {
    this.#host = host;
  }

  /** Takes it from the store; resolves as owned when that is done. */
  open(task: RunScopeOptions, guard?: () => Transaction<void>, budgetId: string = task.runId): OpenedScope {
    const { identity, attempt } = identityOf(task);
    const host = this.#host;
    const name = JSON.stringify(identity);
    const mark = { attempt };
    // The store may show a task as taken before whoever took it here has heard so: the next one waits for that.
    const owned = this.#turns.take(name, async () => {
      const row = await takeScopeFor(host, identity, attempt, () => this.#open.get(name)?.attempt, guard);
      this.#open.set(name, mark);
      return row;
    });
    const { limits, settings, signal } = task;
    return {
      scope: new Scope(host, { identity, attempt, limits, budgetId, settings, signal, owned }),
      owned,
      close: async () => {
        if (this.#open.get(name) === mark) this.#open.delete(name);
        // One that could not be taken is not ours to let go.
        const row = await owned.catch(() => undefined);
        if (row !== undefined) await this.#release(row.id, row.epoch);
      },
    };
  }

  /** Of calls outside of any run. They count within the runtime, so their scopes live as long as it does. */
  bare(options: RuntimeCallOptions): Scope {
    // Without a run id every call is a run of its own, and nothing has to be counted.
    if (options.runId === undefined)
      return new Scope(this.#host, identityOf({ ...options, runId: randomUUID() }));
    const { identity, attempt } = identityOf({ ...options, runId: options.runId });
    const name = `${attempt} ${scopeText(identity)}`;
    let scope = this.#bare.get(name);
    if (scope === undefined || scope.failure !== undefined) {
      scope = new Scope(this.#host, { identity, attempt });
      this.#bare.set(name, scope);
      scope.ready.catch(() => this.#bare.delete(name));
    }
    return scope;
  }

  async #release(scopeId: number, epoch: number): Promise<void> {
    try {
      await this.#host.store.transaction(() => releaseScope(scopeId, epoch), "normal");
    } catch {
      // What `work` came to is what counts; a scope that is not let go is found without a living owner.
    }
  }
}
