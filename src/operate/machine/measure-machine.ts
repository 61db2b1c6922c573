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

/** For each of at most six measurements. */
const BUDGET_MS = 1_200;
/** For all of them. With the checks before it, the command takes ten seconds. */
const TOTAL_MS = 8_000;
const SLOW_CALL_IN_MEMORY_MS = 2;

interface Options extends Partial<Budget> {
  /** Why the store cannot be used, if that is known: then it is not measured. */
  readonly storeFailure?: { readonly detail: string; readonly remedy: string | null } | undefined;
}

/** @throws the reason of the signal, after everything was cleaned up */
export async function measureMachine(
  store: string,
  { ms = BUDGET_MS, untilMs = performance.now() + TOTAL_MS, signal, storeFailure }: Options = {},
): Promise<Measurement[]> {
  const budget = { ms, untilMs, signal };
  const ofStore =
    storeFailure === undefined
      ? await measureStore(store, budget)
      : [notMeasured("commit", storeFailure.detail, storeFailure.remedy)];
  return [...ofStore, await measureSandbox(budget)];
}

async function measureStore(store: string, budget: Budget): Promise<Measurement[]> {
  try {
    if (store === ":memory:") return await measureCalls(store, budget, SLOW_CALL_IN_MEMORY_MS, []);
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
