/** Workers on a PostgreSQL server that cuts connections, loses the jobs of the queue, and restarts. */
import { Client } from "pg";
import { createRuntime } from "toolwright";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type PostgresServer, startServer } from "../postgres/start-server.ts";
import { until } from "../semantics/harness.ts";
import { openLedger } from "./ledger.ts";
import { startProcess } from "./start-process.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startServer(inject("publicRoot"));
});
afterAll(() => server.end());

async function query(sql: string): Promise<void> {
  const client = new Client({ connectionString: `${server.address}/postgres` });
  client.on("error", () => undefined);
  await client.connect();
  await client.query(sql);
  await client.end();
}

test(
  "rule 41: lost connections, lost and doubled jobs, a restart and a kill repeat no effect and lose none",
  { timeout: 180_000 },
  async () => {
    const store = `${server.address}/postgres`;
    await using runtime = createRuntime({ store });
    await runtime.ready();
    const ledger = await openLedger();
    const input = { store, ledgerUrl: ledger.url, leaseMs: 2_000, concurrency: 2 };
    const [first] = await Promise.all([startProcess(input), startProcess(input)]);
    const runIds = ["a", "b", "c", "d", "e", "f"];
    ledger.before.set(4, () =>
      query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = 'postgres'",
      ),
    );
    ledger.before.set(8, () => query("DELETE FROM pgboss.job"));
    ledger.before.set(11, () =>
      query(`INSERT INTO pgboss.job (name, data) SELECT q.name, jsonb_build_object('runId', r.id)
             FROM pgboss.queue q, toolwright_runs r, generate_series(1, 2) WHERE q.name LIKE 'toolwright-%'`),
    );
    ledger.before.set(13, async () => {
      await server.stop();
      await server.start();
    });
    ledger.before.set(17, async () => first.signal("SIGKILL"));
    for (const runId of runIds) await runtime.enqueue("steps", { input: { steps: 4 }, runId });
    await until(async () => {
      const { runs } = await runtime.runs({ status: "finished" });
      return runs.length === runIds.length;
    });
    const expected = runIds.flatMap((runId) => [0, 1, 2, 3].map((step) => [`${runId} ${step}`, 1]));
    expect(ledger.effects()).toEqual(Object.fromEntries(expected));
  },
);
