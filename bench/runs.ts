/**
 * The cost of the operator's lists: a page of 100,000 runs with 500,000 calls under each filter, and the calls of a run
 * with 1,000 long outputs. On both stores.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Client } from "pg";
import { listCallPage } from "../src/operate/list-call-page.ts";
import { listRuns } from "../src/operate/list-runs.ts";
import type { RunFilter } from "../src/runtime/runs.ts";
import { openStore } from "../src/store/open-store.ts";
import { change } from "../src/store/statement.ts";
import type { Store } from "../src/store/store.ts";
import type { Row } from "./bench.ts";
import { inFolder } from "./measure.ts";
import { withPostgres } from "./postgres-server.ts";

const RUNS = 100_000;
const CALLS_PER_RUN = 5;
const LONG_OUTPUTS = 1_000;
const LONG_BYTES = 180_000;

const FILTERS: Readonly<Record<string, RunFilter>> = {
  "no filter": {},
  "status failed": { status: "failed" },
  "status without runs": { status: "queued" },
  "kind tool": { kind: "tool" },
  workflow: { workflow: "workflow 8" },
  label: { label: "customer=77" },
  "text that is found": { q: "run-9999" },
  "text that is not found": { q: "nothing like it" },
  "status and kind": { status: "failed", kind: "tool" },
  "status and text": { status: "finished", q: "nothing like it" },
  "status, kind and text": { status: "finished", kind: "tool", q: "nothing like it" },
  "label and text": { label: "customer=77", q: "nothing like it" },
  "label of every run and status without runs": { label: "env=prod", status: "queued" },
  "label of every run and text": { label: "env=prod", q: "nothing like it" },
};

export async function benchRuns(): Promise<Row[]> {
  const sqlite = await inFolder((folder) => measure("SQLite", join(folder, "runs.db")));
  return [...sqlite, ...(await withPostgres((address) => measure("PostgreSQL", address)))];
}

async function measure(name: string, address: string): Promise<Row[]> {
  const store = await openStore(address);
  try {
    await fillRuns(store);
    await fillLongRun(store);
    if (store.dialect === "postgres") await vacuum(address);
    const rows: Row[] = [];
    for (const [what, filter] of Object.entries(FILTERS)) {
      const value = await timed(() => listRuns(store, { ...filter, limit: 50 }));
      rows.push({ what: `${name}: page of runs, ${what}`, value, unit: "ms", target: 50 });
    }
    const deep = await timed(() => listRuns(store, { limit: 50, before: `${RUNS / 2}~run-${RUNS / 2}` }));
    rows.push({ what: `${name}: page of runs, from the middle`, value: deep, unit: "ms", target: 50 });
    const calls = await timed(() => listCallPage(store, "long", { limit: LONG_OUTPUTS }));
    rows.push({ what: `${name}: 1,000 calls of 180 kB`, value: calls, unit: "ms", target: 60 });
    const page = await timed(() => listCallPage(store, "long"));
    rows.push({ what: `${name}: 100 of these calls`, value: page, unit: "ms", target: 60 });
    return rows;
  } finally {
    await store.close();
  }
}

/** The server itself does this after so many writes with its default settings, which are switched off here. */
async function vacuum(address: string): Promise<void> {
  const client = new Client({ connectionString: address });
  await client.connect();
  await client.query("VACUUM ANALYZE").finally(() => client.end());
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    const started = performance.now();
    await work();
    times.push(performance.now() - started);
  }
  // Other work on the machine only adds time.
  return Math.min(...times);
}

/** The rows that the journal would write for 100,000 runs, without the calls themselves. */
export async function fillRuns(store: Store): Promise<void> {
  const numbers = (count: number): string =>
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})`;
  const statements = [
    `INSERT INTO toolwright_runs (id, status, created_at_ms, updated_at_ms, kind, name, state, finished_at_ms)
     ${numbers(RUNS)} SELECT 'run-' || n, 'open', n, n,
       CASE n % 4 WHEN 0 THEN 'workflow' WHEN 1 THEN 'agent' WHEN 2 THEN 'program' ELSE 'tool' END,
       CASE n % 4 WHEN 0 THEN 'workflow ' || (n % 40) ELSE 'name ' || (n % 50) END,
       CASE WHEN n % 100 = 0 THEN 'failed' ELSE 'finished' END, n FROM numbers`,
    `INSERT INTO toolwright_run_labels (key, value, created_at_ms, run_id)
     ${numbers(RUNS)} SELECT 'customer', CAST(n % 100 AS TEXT), n, 'run-' || n FROM numbers`,
    `INSERT INTO toolwright_run_labels (key, value, created_at_ms, run_id)
     ${numbers(RUNS)} SELECT 'env', 'prod', n, 'run-' || n FROM numbers`,
    `INSERT INTO toolwright_scopes (run_id, node_id, iteration, path, parent_key, attempt, epoch, key_version)
     ${numbers(RUNS)} SELECT 'run-' || n, 'main', 0, '0', '', 1, 1, 2 FROM numbers`,
    `INSERT INTO toolwright_calls (scope_id, attempt, seq, key, tool_name, unrepeatable, status, input_json, output_json,
       started_at_ms, finished_at_ms, tries)
     ${numbers(CALLS_PER_RUN)} SELECT s.id, 1, n, 'key-' || s.id || '-' || n, 'order', 1, 'success', '{"sku":"apple"}',
       '{"id":1,"sku":"apple"}', n, n, 1 FROM toolwright_scopes s, numbers`,
  ];
  for (const sql of statements) await store.transaction(() => change(sql), "normal");
}

/** One run with long outputs. */
async function fillLongRun(store: Store): Promise<void> {
  const statements = [
    `INSERT INTO toolwright_runs (id, status, created_at_ms, updated_at_ms, kind, name, state)
     VALUES ('long', 'open', 1, 1, 'program', 'long', 'finished')`,
    `INSERT INTO toolwright_scopes (run_id, node_id, iteration, path, parent_key, attempt, epoch, key_version)
     VALUES ('long', 'main', 0, '0', '', 1, 1, 2)`,
  ];
  for (const sql of statements) await store.transaction(() => change(sql), "normal");
  // Different bytes, so that PostgreSQL cannot compress them away.
  for (let index = 1; index <= LONG_OUTPUTS; index += 1) {
    const output = JSON.stringify(randomBytes(LONG_BYTES * 0.75).toString("base64"));
    await store.transaction(
      () =>
        change(
          `INSERT INTO toolwright_calls (scope_id, attempt, seq, key, tool_name, unrepeatable, status, input_json,
             output_json, started_at_ms, finished_at_ms, tries)
           SELECT id, 1, CAST(?1 AS BIGINT), 'long-' || CAST(?1 AS TEXT), 'read', 0, 'success', '{}', ?2,
             CAST(?1 AS BIGINT), CAST(?1 AS BIGINT), 1 FROM toolwright_scopes WHERE run_id = 'long'`,
          index,
          output,
        ),
      "normal",
    );
  }
}
