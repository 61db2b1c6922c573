/**
 * Stores the cost that a call reports while it runs: the money is spent even if the process dies. A cost that could not be
 * stored in time is stored with the outcome.
 */
import { addUsage, spendReservation } from "../store/tables/usage.ts";
import type { Transaction } from "../store/store.ts";
import type { Call } from "./call.ts";
import { commitAtOnce } from "./host.ts";

export const COST = "maxCostUsd";

export class Spending {
  readonly #call: Call;
  #storedUsd = 0;
  #writing: Promise<void> | undefined;

  constructor(call: Call) {
    this.#call = call;
  }

  /** The cost has grown. One write at a time: a cost that is reported meanwhile is part of the next write. */
  note(): void {
    this.#writing ??= this.#write();
  }

  /** Resolves when no write is in progress. */
  async whenStored(): Promise<void> {
    await this.#writing;
  }

  /** Returns the cost that is not stored yet, for the transaction that stores the outcome. */
  takeUnstoredUsd(): number {
    const { costUsd } = this.#call;
    const unstored = Math.max(0, costUsd - this.#storedUsd);
    this.#storedUsd = Math.max(costUsd, this.#storedUsd);
    return unstored;
  }

  async #write(): Promise<void> {
    const call = this.#call;
    for (;;) {
      const usd = this.takeUnstoredUsd();
      if (usd === 0) break;
      try {
        await commitAtOnce(call.host, () => spend(call, usd));
      } catch {
        // The transaction that stores the outcome includes it.
        this.#storedUsd -= usd;
        break;
      }
    }
    this.#writing = undefined;
  }
}

function* spend(call: Call, usd: number): Transaction<void> {
  const { budgetId } = call.scope;
  yield* addUsage(budgetId, COST, usd);
  // A cost that is spent is no longer reserved.
  yield* spendReservation(budgetId, COST, call.key, usd);
}
