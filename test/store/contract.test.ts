/** Both stores, and SQLite in memory, fulfil the store contract. */
import { describe, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { createMemoryStore, storeContract, type ContractDatabase } from "../../src/testing/index.ts";
import { STORE_KINDS, type StoreKind } from "../store-kinds.ts";

async function createDatabase(storeKind: StoreKind): Promise<ContractDatabase> {
  const store = await storeKind.fresh();
  return { open: () => openStore(store.address), dispose: async () => store[Symbol.asyncDispose]() };
}

describe.each(STORE_KINDS)("the $name store", (storeKind) => {
  for (const { name, run } of storeContract({ createDatabase: () => createDatabase(storeKind) }))
    test(name, run);
});

describe("the SQLite store in memory", () => {
  const cases = storeContract({
    createDatabase: async () => ({ open: createMemoryStore }),
    isShared: false,
  });
  for (const { name, run } of cases) test(name, run);
});
