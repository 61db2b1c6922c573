/** The real SQLite store on an in-memory database, which ends when the store is closed. */
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";

/**
 * @example
 * const store = await createMemoryStore();
 * const runtime = createRuntime({ store }); // a second runtime on the same store acts like another process
 */
export function createMemoryStore(): Promise<Store> {
  return openSqliteStore(":memory:");
}
