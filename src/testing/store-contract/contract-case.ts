/** One case of the store contract, independent of a test runner: a failed case rejects. */
import type { Store, Transaction } from "../../store/store.ts";

export interface CaseContext {
  /** On a database that no other case uses. */
  readonly store: Store;
  /** Another store on the same database, as in another process. */
  readonly open: () => Promise<Store>;
}

export interface StoreCase {
  readonly name: string;
  /** Needs a second store on the same database. */
  readonly needsSharing?: boolean;
  run(context: CaseContext): Promise<void>;
}

/** Commits `work` at level `normal`. */
export function commit<T>(store: Store, work: () => Transaction<T>): Promise<T> {
  return store.transaction(work, "normal");
}

/** Runs the same work in several stores concurrently, and returns the results in order. */
export function inEach<T>(stores: readonly Store[], work: () => Transaction<T>): Promise<T[]> {
  return Promise.all(stores.map((store) => commit(store, work)));
}

/** Runs the same change in several stores concurrently, and returns the total number of changed rows. */
export async function changesInEach(
  stores: readonly Store[],
  work: () => Transaction<number>,
): Promise<number> {
  return (await inEach(stores, work)).reduce((sum, changes) => sum + changes, 0);
}
