/** Opens the store that an option names: a path, a PostgreSQL address, or an open store. */
import { lazyModule } from "../util/lazy.ts";
import type { Store } from "./store.ts";

const postgres = lazyModule(() => import("./postgres/postgres-store.ts"));
const sqlite = lazyModule(() => import("./sqlite/sqlite-store.ts"));

export type StoreOption = string | Store;

export const DEFAULT_STORE = "toolwright.db";

export function isPostgresAddress(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}

/** An address of another kind, such as mysql://…, or one with a space before it. It is not the path of a file. */
export function isForeignAddress(text: string): boolean {
  return /^\s*[a-z][a-z0-9+.-]+:\/\//i.test(text) && !isPostgresAddress(text);
}

/** Drivers load on first use, so that importing the root loads neither. */
export async function openStore(option: StoreOption = DEFAULT_STORE): Promise<Store> {
  if (typeof option !== "string") return option;
  if (isPostgresAddress(option)) {
    const { openPostgresStore } = await postgres.get();
    return openPostgresStore({ connectionString: option });
  }
  const { openSqliteStore } = await sqlite.get();
  return openSqliteStore(option);
}
