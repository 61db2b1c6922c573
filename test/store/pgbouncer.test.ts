/** PgBouncer in transaction mode: nothing relies on a session, and no statement is prepared by name. */
import { describe, expect, onTestFinished, test } from "vitest";
import { createRuntime, type Store } from "../../src/index.ts";
import { openPostgresStore, type PostgresStoreOptions } from "../../src/postgres.ts";
import { all, change } from "../../src/store/statement.ts";
import { freshPostgres } from "../postgres/fresh-postgres.ts";
import { startPgbouncer } from "../postgres/pgbouncer.ts";
import { times } from "../semantics/harness.ts";
import { createCharge } from "../semantics/tools.ts";

async function bouncedAddress(): Promise<{ address: string; direct: string }> {
  const direct = await freshPostgres();
  const bouncer = await startPgbouncer(direct);
  onTestFinished(() => bouncer[Symbol.asyncDispose]());
  return { address: bouncer.address, direct };
}

async function open(address: string, options: Partial<PostgresStoreOptions> = {}): Promise<Store> {
  const store = await openPostgresStore({ connectionString: address, ...options });
  onTestFinished(() => store.close());
  return store;
}

async function preparedNames(store: Store): Promise<unknown[]> {
  const rows = await store.read(() => all("SELECT name FROM pg_prepared_statements"));
  return rows.map(({ name }) => name);
}

describe("a store behind PgBouncer in transaction mode", () => {
  test("rule 29: runs calls of several processes side by side, each once", { timeout: 60_000 }, async () => {
    const { address } = await bouncedAddress();
    const { charge, effects } = createCharge({ idempotencyKey: ({ amount }) => String(amount) });
    const runtimes = times(3, undefined).map(() => createRuntime({ store: address }));
    const calls = runtimes.flatMap((runtime, number) =>
      Array.from({ length: 40 }, (_, amount) => runtime.call(charge, { amount }, { runId: `run-${number}` })),
    );
    const ended = await Promise.all(calls);
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(["success"]));
    expect(effects).toHaveLength(40);
    for (const runtime of runtimes) await runtime[Symbol.asyncDispose]();
  });

  test("prepares no statement by name and leaves no setting on the server's connections", async () => {
    const { address } = await bouncedAddress();
    const store = await open(address);
    await store.transaction(() => change("DELETE FROM toolwright_usage"), "full");
    expect(await preparedNames(store)).toEqual([]);
    const shown = await store.read(() => all("SHOW idle_in_transaction_session_timeout"));
    expect(shown).toEqual([{ idle_in_transaction_session_timeout: "0" }]);
  });

  test("limits how long a stopped process keeps its locks, in each transaction", async () => {
    const { address } = await bouncedAddress();
    const store = await open(address);
    const shown = await store.transaction(() => all("SHOW idle_in_transaction_session_timeout"), "normal");
    expect(shown).toEqual([{ idle_in_transaction_session_timeout: "30s" }]);
  });

  test("prepares by name if the address says so", async () => {
    const { address } = await bouncedAddress();
    const store = await open(`${address}?preparedStatements=true`);
    await store.read(() => all("SELECT name FROM toolwright_usage"));
    expect((await preparedNames(store)).length).toBeGreaterThan(0);
  });
});

test("a direct connection prepares by name, until the server refuses a name", async () => {
  const address = await freshPostgres();
  const store = await open(address, { poolSize: 1 });
  const read = () => store.read(() => all("SELECT name FROM toolwright_usage"));
  await read();
  const [name] = await preparedNames(store);
  expect(name).toMatch(/^toolwright_/);
  // Simulates a pooler that silently switches to another server connection, without the statement.
  await store.transaction(() => change("DEALLOCATE ALL"), "normal").catch(() => undefined);
  expect(await read()).toEqual([]);
  expect(await preparedNames(store)).toEqual([]);
});

test.each([
  [{ preparedStatement: false }, /unknown option "preparedStatement"\. Did you mean "preparedStatements"\?/],
  [{ poolsize: 5 }, /unknown option "poolsize"\. Did you mean "poolSize"\?/],
  [{ retryMs: -1 }, /retryMs must be an integer of at least 0/],
  [{ poolSize: 0 }, /poolSize must be an integer of at least 1/],
  [{ preparedStatements: "no" }, /preparedStatements must be true or false/],
])("refuses %o before it connects", async (options, message) => {
  const connectionString = "postgres://user@127.0.0.1:1/none";
  await expect(openPostgresStore({ connectionString, ...(options as object) })).rejects.toMatchObject({
    code: "TOOL_OPTION_INVALID",
    message: expect.stringMatching(message) as string,
  });
});

test.each([
  ["preparedStatements=maybe", 'preparedStatements in the address must be true or false, not "maybe"'],
  ["poolSize=many", 'poolSize in the address must be a whole number of at least 1, not "many"'],
  ["poolSize=0", 'poolSize in the address must be a whole number of at least 1, not "0"'],
])("refuses the parameter %s of the address by name", async (parameter, message) => {
  const connectionString = `postgres://user@127.0.0.1:1/none?${parameter}`;
  await expect(openPostgresStore({ connectionString })).rejects.toMatchObject({
    code: "TOOL_OPTION_INVALID",
    message: expect.stringContaining(message) as string,
  });
});
