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
