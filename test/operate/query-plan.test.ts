/** Every filter of the list of runs is served by an index, in the order of the list. */
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { toPostgres } from "../../src/store/postgres/postgres-store.ts";
import { listRuns } from "../../src/operate/list-runs.ts";
import type { RunFilter } from "../../src/runtime/runs.ts";
import { change } from "../../src/store/statement.ts";
import { COMMON_LABEL, type RunPageFilter, runPageStatement } from "../../src/store/tables/run-pages.ts";
import { STORE_KINDS } from "../store-kinds.ts";

const [sqlite, postgres] = STORE_KINDS;
const before = { createdAtMs: 5, runId: "run-5" };

type Filter = Omit<RunPageFilter, "limit">;
const label = { key: "a", value: "b" };

/** The last element: many runs have the label. */
const PLANS: readonly (readonly [Filter, string, boolean?])[] = [
  [{}, "toolwright_runs_created"],
  [{ before }, "toolwright_runs_created"],
  [{ q: "text" }, "toolwright_runs_created"],
  [{ state: "failed" }, "toolwright_runs_state"],
  [{ state: "failed", before }, "toolwright_runs_state"],
  [{ state: "failed", kind: "tool", q: "text" }, "toolwright_runs_state"],
  [{ kind: "tool" }, "toolwright_runs_kind"],
  [{ kind: "workflow", before }, "toolwright_runs_kind"],
  [{ workflow: "orders" }, "toolwright_runs_workflow"],
  [{ workflow: "orders", state: "failed", before }, "toolwright_runs_workflow"],
  [{ label }, "toolwright_run_labels"],
  [{ label, state: "failed", before }, "toolwright_run_labels"],
  [{ label, state: "failed", before }, "toolwright_runs_state", true],
  [{ label, kind: "tool" }, "toolwright_runs_kind", true],
  [{ label, workflow: "orders", q: "text" }, "toolwright_runs_workflow", true],
  [{ label, q: "text" }, "toolwright_runs_created", true],
];

test("on SQLite", async () => {
  await using fresh = await sqlite.fresh();
  await (await openStore(fresh.address)).close();
  const database = new DatabaseSync(fresh.address);
  try {
    for (const [filter, index, isCommon] of PLANS) {
      const { chosen: sql, parameters } = runPageStatement({ ...filter, limit: 51 }, isCommon);
      const plan = database
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all(...parameters)
        .map(({ detail }) => String(detail));
      const expected =
        index === "toolwright_run_labels"
          ? /SEARCH l USING PRIMARY KEY/
          : new RegExp(`USING (COVERING )?INDEX ${index}`);
      expect(plan[0], sql).toMatch(expected);
      // A sort would read all runs before the first is shown.
      expect(plan.join("\n"), sql).not.toContain("TEMP B-TREE");
    }
  } finally {
    database.close();
  }
});

test("on PostgreSQL", async () => {
  const { address } = await postgres.fresh();
  await (await openStore(address)).close();
  const client = new Client({ connectionString: address });
  await client.connect();
  try {
    // The planner of an empty table would rather read it as a whole.
    await client.query("SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off");
    for (const [filter, index, isCommon] of PLANS) {
      const { chosen: sql, parameters } = runPageStatement({ ...filter, limit: 51 }, isCommon);
      const { rows } = await client.query<Record<string, string>>(`EXPLAIN ${toPostgres(sql)}`, [
        ...parameters,
      ]);
      const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
      expect(plan, sql).toMatch(
        index === "toolwright_run_labels" ? /Index.* on toolwright_run_labels/ : index,
      );
      expect(plan, sql).not.toContain("Sort");
    }
  } finally {
    await client.end();
  }
});

test.each(STORE_KINDS)(
  "on $name, a label that most runs have is combined with other filters",
  async (kind) => {
    const fresh = await kind.fresh();
    const store = await openStore(fresh.address);
    onTestFinished(async () => {
      await store.close();
      await fresh[Symbol.asyncDispose]();
    });
    const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${COMMON_LABEL + 5})`;
    const fill = [
      `INSERT INTO toolwright_runs (id, status, created_at_ms, updated_at_ms, kind, name, state)
     ${numbers} SELECT 'run-' || n, 'open', n, n, 'program', 'name ' || n, CASE WHEN n % 4000 = 0 THEN 'failed' ELSE 'finished' END
     FROM numbers`,
      `INSERT INTO toolwright_run_labels (key, value, created_at_ms, run_id)
     ${numbers} SELECT 'env', 'prod', n, 'run-' || n FROM numbers WHERE n <> 4000`,
    ];
    for (const sql of fill) await store.transaction(() => change(sql), "normal");
    const ids = async (filter: RunFilter): Promise<string[]> =>
      (await listRuns(store, { label: "env=prod", ...filter })).runs.map(({ runId }) => runId);
    expect(await ids({ status: "failed" })).toEqual(["run-8000"]);
    expect(await ids({ status: "failed", before: "run-8000" })).toEqual([]);
    expect(await ids({ q: "name 999", limit: 2 })).toEqual(["run-9999", "run-9998"]);
    expect(await ids({ kind: "agent" })).toEqual([]);
  },
);
