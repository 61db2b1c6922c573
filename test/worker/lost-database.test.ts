/** Workers on a PostgreSQL server that cuts connections, loses the jobs of the queue, and restarts. */
import { Client } from "pg";
import { createRuntime, createWorker } from "toolwright";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openCuttingProxy } from "../postgres/cutting-proxy.ts";
import { type PostgresServer, startServer } from "../postgres/start-server.ts";
import { until } from "../semantics/harness.ts";
import { openLedger } from "./ledger.ts";
import { startProcess } from "./start-process.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startServer(inject("publicRoot"));
});
afterAll(() => server.end());

let disturbances = Promise.resolve();
/** One after the other: a restart would break the connection of another one. */
function disturb(work: () => Promise<void>): Promise<void> {
  disturbances = disturbances.then(work);
  return disturbances;
}

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
    const disturbBy = (sql: string) => () => disturb(() => query(sql));
    ledger.before.set(
      4,
      disturbBy(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = 'postgres'",
      ),
    );
    ledger.before.set(8, disturbBy("DELETE FROM pgboss.job"));
    ledger.before.set(
      11,
      disturbBy(`INSERT INTO pgboss.job (name, data) SELECT q.name, jsonb_build_object('runId', r.id)
             FROM pgboss.queue q, toolwright_runs r, generate_series(1, 2) WHERE q.name LIKE 'toolwright-%'`),
    );
    ledger.before.set(13, () =>
      disturb(async () => {
        await server.stop();
        await server.start();
      }),
    );
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

test("a worker that loses its connection while it starts connects again", async () => {
  await using proxy = await openCuttingProxy(`${server.address}/postgres`);
  const startWorker = async (): Promise<string> => {
    await using runtime = createRuntime({ store: proxy.address });
    const worker = createWorker({ runtime, programs: { none: () => undefined } });
    await worker.start();
    const { engine } = worker.status();
    await worker.drain();
    return engine ?? "none";
  };
  // Creates the tables of the queue: that would name the function, too.
  await startWorker();
  proxy.cutAt("create_queue", "before");
  expect(await startWorker()).toBe("pg-boss");
  expect(proxy.isCutting).toBe(false);
});
