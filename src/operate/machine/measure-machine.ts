/**
 * Measures what runs on this machine will cost: commits, calls, the sandbox, and the way to the database. Leaves nothing
 * behind, not even in the store.
 */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isStoreFile } from "../store-address.ts";
import { measureCalls } from "./call-speed.ts";
import { type Measurement, notMeasured } from "./measurement.ts";
import { measurePostgres } from "./postgres-speed.ts";
import { measureSandbox } from "./sandbox-speed.ts";
import { measureSqlite } from "./sqlite-speed.ts";

/** Six measurements take ten seconds at most. */
const BUDGET_MS = 1_500;
const SLOW_CALL_IN_MEMORY_MS = 2;

export async function measureMachine(store: string, budgetMs = BUDGET_MS): Promise<Measurement[]> {
  return [...(await measureStore(store, budgetMs)), await measureSandbox(budgetMs)];
}

async function measureStore(store: string, budgetMs: number): Promise<Measurement[]> {
  try {
    if (store === ":memory:") return await measureCalls(store, budgetMs, SLOW_CALL_IN_MEMORY_MS);
    if (!isStoreFile(store)) return await measurePostgres(store, budgetMs);
    const folder = dirname(resolve(store));
    if (!existsSync(folder)) return [notMeasured("commit", `the folder ${folder} does not exist`)];
    return await measureSqlite(folder, budgetMs);
  } catch (error) {
    // A store that cannot be reached or written is a finding, not a failure of the measurement.
    return [notMeasured("commit", error instanceof Error ? error.message : String(error))];
  }
}
