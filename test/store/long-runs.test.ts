/** What the end of a task or turn reads must not grow with the scopes of its run: indexes serve it. */
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { expect, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { toPostgres } from "../../src/store/postgres/postgres-store.ts";
import { toSqlite } from "../../src/store/sqlite/sqlite-store.ts";
import { all, change } from "../../src/store/statement.ts";
import { OPEN_SCOPE } from "../../src/store/tables/runs.ts";
import { IS_IN_TASK } from "../../src/store/tables/scopes.ts";
import { STORE_KINDS } from "../store-kinds.ts";

const [sqlite, postgres] = STORE_KINDS;

const OPEN = `SELECT 1 ${OPEN_SCOPE}`;
const IN_TASK = `SELECT s.id FROM toolwright_scopes s WHERE ${IS_IN_TASK}`;

test("SQLite finds the open scopes of a run, and the scopes of a task, by an index", async () => {
  await using fresh = await sqlite.fresh();
  await (await openStore(fresh.address)).close();
  const database = new DatabaseSync(fresh.address);
  try {
    const planOf = (sql: string, ...parameters: string[]): string =>
      database
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all(...parameters)
        .map(({ detail }) => String(detail))
        .join("\n");
    expect(planOf(OPEN, "r")).toContain("USING COVERING INDEX toolwright_scopes_open (run_id=?");
    const inTask = planOf(toSqlite(IN_TASK), "r", "main", "1");
    expect(inTask).toContain("(run_id=? AND node_id=? AND path>? AND path<?)");
  } finally {
    database.close();
  }
});

test("PostgreSQL finds the open scopes of a run, and the scopes of a task, by an index", async () => {
  const { address } = await postgres.fresh();
  await (await openStore(address)).close();
  const client = new Client({ connectionString: address });
  await client.connect();
  try {
    await client.query(
      `INSERT INTO toolwright_scopes (run_id, node_id, iteration, path, parent_key, attempt, epoch)
       SELECT 'r', 'main', n, CAST(n AS TEXT), '', 1, 1 FROM generate_series(1, 20000) n`,
    );
    await client.query("ANALYZE toolwright_scopes");
    const planOf = async (sql: string, ...parameters: string[]): Promise<string> => {
      const { rows } = await client.query<Record<string, string>>(`EXPLAIN ${toPostgres(sql)}`, parameters);
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    };
    expect(await planOf(OPEN, "r")).toContain("toolwright_scopes_open");
    const inTask = await planOf(IN_TASK, "r", "main", "1");
    expect(inTask).toContain("toolwright_scopes_turns");
    expect(inTask).not.toContain("Seq Scan");
  } finally {
    await client.end();
  }
});

test.each(STORE_KINDS)(
  "$name finds the turns of a chat in a task, and of no other task",
  async ({ fresh }) => {
    await using at = await fresh();
    const store = await openStore(at.address);
    try {
      const found = await store.transaction(function* () {
        for (const path of ["1", "1#0", "1#12", "1.2", "1.2#0", "12", "12#0", "1$", "2#1"])
          yield* change(
            `INSERT INTO toolwright_scopes (run_id, node_id, iteration, path, parent_key, attempt, epoch)
           VALUES ('r', 'main', 0, ?1, '', 1, 1)`,
            path,
          );
        const sql = `SELECT s.path FROM toolwright_scopes s WHERE ${IS_IN_TASK} ORDER BY s.id`;
        return (yield* all(sql, "r", "main", "1")).map(({ path }) => path);
      }, "normal");
      expect(found).toEqual(["1", "1#0", "1#12"]);
    } finally {
      await store.close();
    }
  },
);
