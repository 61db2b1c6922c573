/** A store in memory: the real SQLite store, on a database that is gone when it is closed. */
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";

/**
 * @example
 * const store = await createMemoryStore();
 * const runtime = createRuntime({ store }); // a second runtime on the same store is another process, as far as it can tell
 */
export function createMemoryStore(): Promise<Store> {
  return openSqliteStore(":memory:");
}
