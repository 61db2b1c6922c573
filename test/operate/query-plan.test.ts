/** Every filter of the list of runs is served by an index, in the order of the list. */
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { expect, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { toPostgres } from "../../src/store/postgres/postgres-store.ts";
import { type RunPageFilter, runPageStatement } from "../../src/store/tables/run-pages.ts";
import { STORE_KINDS } from "../store-kinds.ts";

const [sqlite, postgres] = STORE_KINDS;
const before = { createdAtMs: 5, runId: "run-5" };

const PLANS: readonly (readonly [Omit<RunPageFilter, "limit">, string])[] = [
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
  [{ label: { key: "a", value: "b" } }, "toolwright_run_labels"],
  [{ label: { key: "a", value: "b" }, state: "failed", before }, "toolwright_run_labels"],
];

test("on SQLite", async () => {
  await using fresh = await sqlite.fresh();
  await (await openStore(fresh.address)).close();
  const database = new DatabaseSync(fresh.address);
  try {
    for (const [filter, index] of PLANS) {
      const { chosen: sql, parameters } = runPageStatement({ ...filter, limit: 51 });
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
    for (const [filter, index] of PLANS) {
      const { chosen: sql, parameters } = runPageStatement({ ...filter, limit: 51 });
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
