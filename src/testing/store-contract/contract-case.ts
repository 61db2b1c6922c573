/** One behaviour that every store must have. Knows no test runner: a case that fails rejects. */
import type { Store, Transaction } from "../../store/store.ts";

export interface CaseContext {
  /** On a database that no other case uses. */
  readonly store: Store;
  /** Another store on the same database, as another process would have it. */
  readonly open: () => Promise<Store>;
}

export interface StoreCase {
  readonly name: string;
  /** Needs a second store on the same database. */
  readonly needsSharing?: boolean;
  run(context: CaseContext): Promise<void>;
}

/** Commits what `work` says, at the usual level. */
export function commit<T>(store: Store, work: () => Transaction<T>): Promise<T> {
  return store.transaction(work, "normal");
}

/** The same thing in several stores at once: what came of each, in order. */
export function inEach<T>(stores: readonly Store[], work: () => Transaction<T>): Promise<T[]> {
  return Promise.all(stores.map((store) => commit(store, work)));
}

/** The same change in several stores at once: how many rows all of them touched together. */
export async function changesInEach(
  stores: readonly Store[],
  work: () => Transaction<number>,
): Promise<number> {
  return (await inEach(stores, work)).reduce((sum, changes) => sum + changes, 0);
}
