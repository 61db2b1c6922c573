/**
 * Finds the store that has the snapshots of a repository. A process that took a snapshot need not name the store
 * again. Every other process does, because a ref alone proves nothing.
 */
import { existsSync } from "node:fs";
import { ToolwrightError } from "../errors.ts";
import { DEFAULT_STORE, isPostgresAddress, openStore, type StoreOption } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";

// By git folder. The runtimes of a process and the functions that restore share nothing else.
const lastStores = new Map<string, StoreOption>();

/** SQLite stores are remembered by path, so that the runtime may be closed before a snapshot is restored. */
export function rememberStore(gitDir: string, store: StoreOption): void {
  lastStores.set(gitDir, store);
}

/** Opens the store that `option` names, and closes it again unless it was already open. */
export async function withSnapshotStore<T>(
  gitDir: string,
  option: StoreOption | undefined,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const chosen = option ?? lastStores.get(gitDir) ?? DEFAULT_STORE;
  if (typeof chosen !== "string") return work(chosen);
  if (!isPostgresAddress(chosen) && !existsSync(chosen)) throw noStore(chosen);
  const store = await openStore(chosen);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

function noStore(path: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_OPTION_INVALID",
    `Expected "store" to name the store of the runtime that took the snapshots; there is no file ${JSON.stringify(path)}.`,
    { hint: 'Pass the runtime\'s store, for example { store: "toolwright.db" }.', effect: "none" },
  );
}
