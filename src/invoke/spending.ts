/**
 * What a call reports as its cost, stored while the call runs: a process that dies in it has spent the money all the same.
 * What could not be stored in time is stored with the outcome.
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

  /** The call costs more than before. One write at a time: what is reported meanwhile goes with the next. */
  note(): void {
    this.#writing ??= this.#write();
  }

  /** Resolves when nothing is being written. */
  async whenStored(): Promise<void> {
    await this.#writing;
  }

  /** Hands out what is not stored yet, for the transaction that stores the outcome. */
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
  // What is spent is not reserved any more.
  yield* spendReservation(budgetId, COST, call.key, usd);
}
