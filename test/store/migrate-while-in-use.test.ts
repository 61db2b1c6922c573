/** A process opens a store of an older version while others use it. */
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { META_TABLE, readMigrations } from "../../src/store/migrate.ts";
import { openPostgresStore } from "../../src/postgres.ts";
import { all } from "../../src/store/statement.ts";
import { freshPostgres } from "../postgres/fresh-postgres.ts";
import { until } from "../semantics/harness.ts";

async function connectTo(address: string): Promise<Client> {
  const client = new Client({ connectionString: address });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

async function createOldStore(address: string, version: number): Promise<void> {
  const client = await connectTo(address);
  await client.query(META_TABLE);
  for (const migration of readMigrations("postgres").filter((other) => other.version <= version))
    await client.query(migration.sql);
  await client.query("INSERT INTO toolwright_meta VALUES ('version', $1), ('secret', 'old')", [
    String(version),
  ]);
}

const WAITING =
  "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

test("rule 29: a migration gives way to a transaction that it would deadlock with, and succeeds after it", async () => {
  const address = await freshPostgres();
  await createOldStore(address, 2);
  const worker = await connectTo(address);
  const watcher = await connectTo(address);
  // The last table that the migration locks, then one that it has locked by then.
  await worker.query("BEGIN; UPDATE toolwright_workflow_runs SET status = status");
  await worker.query("INSERT INTO toolwright_usage (run_id, name) VALUES ('r', 'n')");
  const opening = openPostgresStore({ connectionString: address });
  await until(async () => (await watcher.query(WAITING)).rowCount === 1);
  await worker.query("UPDATE toolwright_approvals SET status = status");
  await worker.query("COMMIT");
  const store = await opening;
  onTestFinished(() => store.close());
  expect(store.secret).toBe("old");
  const latest = readMigrations("postgres").at(-1)?.version;
  expect(await store.read(() => all("SELECT value FROM toolwright_meta WHERE name = 'version'"))).toEqual([
    { value: String(latest) },
  ]);
});

test("concurrent opens alongside transactions in every order all succeed", { timeout: 60_000 }, async () => {
  const address = await freshPostgres();
  await createOldStore(address, 2);
  const tables = ["calls", "scopes", "approvals", "claims", "usage", "workflow_runs", "tasks", "runs"];
  const over = new AbortController();
  const work = [1, 2, 3].map(async (step) => {
    const client = await connectTo(address);
    while (!over.signal.aborted) {
      const order = tables.map((_, index) => tables[(index * step) % tables.length] ?? "runs");
      const statements = order.map((name) => `DELETE FROM toolwright_${name} WHERE false`);
      await client.query(["BEGIN", ...statements, "COMMIT"].join("; "));
    }
  });
  const opening = Array.from({ length: 4 }, () => openPostgresStore({ connectionString: address }));
  const stores = await Promise.all(opening).finally(() => over.abort());
  await Promise.all(work);
  for (const store of stores) await store.close();
  expect(new Set(stores.map(({ secret }) => secret))).toEqual(new Set(["old"]));
});
