/**
 * Measures what runs on this machine will cost: commits, calls, the sandbox, and the way to the database. Leaves nothing
 * behind, not even in the store.
 */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ToolwrightError } from "../../errors.ts";
import { messageOf } from "../../invoke/error-record.ts";
import { isStoreFile } from "../store-address.ts";
import { measureCalls } from "./call-speed.ts";
import { type Budget, type Measurement, notMeasured } from "./measurement.ts";
import { measurePostgres } from "./postgres-speed.ts";
import { measureSandbox } from "./sandbox-speed.ts";
import { measureSqlite } from "./sqlite-speed.ts";

/** Six measurements take ten seconds at most. */
const BUDGET_MS = 1_500;
const SLOW_CALL_IN_MEMORY_MS = 2;

/** @throws the reason of the signal, after everything was cleaned up */
export async function measureMachine(
  store: string,
  { ms = BUDGET_MS, signal }: Partial<Budget> = {},
): Promise<Measurement[]> {
  const budget = { ms, signal };
  return [...(await measureStore(store, budget)), await measureSandbox(budget)];
}

async function measureStore(store: string, budget: Budget): Promise<Measurement[]> {
  try {
    if (store === ":memory:") return await measureCalls(store, budget, SLOW_CALL_IN_MEMORY_MS);
    if (!isStoreFile(store)) return await measurePostgres(store, budget);
    const folder = dirname(resolve(store));
    if (!existsSync(folder))
      return [
        notMeasured("commit", `the folder ${folder} does not exist`, "Create it, or choose another store."),
      ];
    return await measureSqlite(folder, budget);
  } catch (error) {
    // A store that cannot be reached or written is a finding, not a failure of the measurement.
    budget.signal?.throwIfAborted();
    return [notMeasured("commit", messageOf(error), ToolwrightError.is(error) ? error.hint : null)];
  }
}
