/** The PostgreSQL store for programs that set more than its address. */
import { checkOptions } from "./definition/option-table.ts";
import { POSTGRES_STORE_OPTIONS } from "./definition/postgres-store-options.ts";
import { openPostgresStore as open } from "./store/postgres/postgres-store.ts";
import type { PostgresStoreOptions } from "./store/postgres/options.ts";
import type { Store } from "./store/store.ts";

export type { PostgresStoreOptions } from "./store/postgres/options.ts";

/** @example const runtime = createRuntime({ store: await openPostgresStore({ connectionString, poolSize: 20 }) }); */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  checkOptions(POSTGRES_STORE_OPTIONS, options);
  return open(options);
}
