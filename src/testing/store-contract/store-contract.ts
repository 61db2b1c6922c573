/** The store contract: the shared test cases that every store must pass, for any test runner. */
import { aBoolean, aFunction } from "../../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../../definition/option-table.ts";
import type { Store } from "../../store/store.ts";
import { approvalCases } from "./approval-cases.ts";
import { callCases } from "./call-cases.ts";
import type { StoreCase } from "./contract-case.ts";
import { openingCases } from "./opening-cases.ts";
import { policyCases } from "./policy-cases.ts";
import { scopeCases } from "./scope-cases.ts";
import { transactionCases } from "./transaction-cases.ts";

export interface ContractDatabase {
  /** Opens a new store on this database, as another process would. */
  open(): Promise<Store>;
  /** Called after the case, when its stores are closed. */
  dispose?(): Promise<void>;
}

export interface StoreContractOptions {
  /** An empty database that no other case uses. */
  readonly createDatabase: () => Promise<ContractDatabase>;
  /** `false` if each `open` creates a separate database, as for `":memory:"`. Default `true`. */
  readonly isShared?: boolean | undefined;
}

export interface ContractCase {
  readonly name: string;
  /** Rejects when the store fails the case. */
  readonly run: () => Promise<void>;
}

export const STORE_CONTRACT_OPTIONS: OptionTable = optionTable<StoreContractOptions>(
  "storeContract",
  { createDatabase: aFunction, isShared: aBoolean },
  { required: ["createDatabase"], example: "{ createDatabase }" },
);

/**
 * @example
 * const cases = storeContract({
 *   createDatabase: async () => {
 *     const address = await freshAddress();
 *     return { open: () => openMyStore(address) };
 *   },
 * });
 * for (const { name, run } of cases) test(name, run);
 */
export function storeContract(options: StoreContractOptions): ContractCase[] {
  checkOptions(STORE_CONTRACT_OPTIONS, options);
  const { createDatabase, isShared = true } = options;
  const cases: readonly StoreCase[] = [
    ...transactionCases,
    ...scopeCases,
    ...callCases,
    ...approvalCases,
    ...policyCases,
    ...openingCases,
  ];
  return cases
    .filter(({ needsSharing }) => isShared || needsSharing !== true)
    .map((one) => ({ name: one.name, run: () => runCase(one, createDatabase) }));
}

async function runCase(one: StoreCase, createDatabase: () => Promise<ContractDatabase>): Promise<void> {
  const database = await createDatabase();
  const opened: Store[] = [];
  const open = async (): Promise<Store> => {
    const store = await database.open();
    opened.push(store);
    return store;
  };
  try {
    await one.run({ store: await open(), open });
  } finally {
    for (const store of opened) await store.close();
    await database.dispose?.();
  }
}
