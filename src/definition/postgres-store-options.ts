/** The options of `openPostgresStore`. The store itself is below the layer that checks options. */
import { LEAST, type PostgresStoreOptions } from "../store/postgres/options.ts";
import { aBoolean, aFullText, anInteger } from "./option-checks.ts";
import { optionTable, type OptionTable } from "./option-table.ts";

export const POSTGRES_STORE_OPTIONS: OptionTable = optionTable<PostgresStoreOptions>(
  "openPostgresStore",
  {
    connectionString: aFullText,
    poolSize: anInteger(LEAST.poolSize),
    connectTimeoutMs: anInteger(LEAST.connectTimeoutMs),
    retryMs: anInteger(LEAST.retryMs),
    preparedStatements: aBoolean,
  },
  { required: ["connectionString"], example: '{ connectionString: "postgres://user@host/database" }' },
);
