/** Outputs as SQL: a view for each key, with a column for each field. */
import { createSmithers, runWorkflow } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { changeRows, createStorePath, rowsOf } from "./harness.ts";

async function store(dbPath: string, runId: string, schema: z.ZodType, value: unknown): Promise<void> {
  const { Workflow, Task, smithers, outputs } = createSmithers({ row: schema }, { dbPath });
  const workflow = smithers(() => (
    <Workflow name="stores">
      <Task id="t" output={outputs.row}>
        {value}
      </Task>
    </Workflow>
  ));
  expect((await runWorkflow(workflow, { runId })).status).toBe("finished");
}

/** Fields of views are texts on PostgreSQL. */
function asTexts(rows: readonly object[]): object[] {
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)]),
    ),
  );
}

it("each output is a row of the view of its key", async () => {
  const dbPath = createStorePath();
  await store(dbPath, "r", z.object({ title: z.string(), pages: z.number() }), { title: "it's", pages: 3 });
  expect(asTexts(await rowsOf(dbPath, 'SELECT * FROM "row"'))).toEqual([
    { run_id: "r", node_id: "t", iteration: "0", path: "0", title: "it's", pages: "3" },
  ]);
});

it("a schema that grows adds columns, and earlier rows stay in the view", async () => {
  const dbPath = createStorePath();
  await store(dbPath, "r1", z.object({ a: z.string() }), { a: "1" });
  await store(dbPath, "r2", z.object({ b: z.string(), a: z.string() }), { a: "2", b: "2" });
  await store(dbPath, "r3", z.object({ c: z.string() }), { c: "3" });
  await store(dbPath, "r4", z.object({ a: z.string() }), { a: "4" });
  expect(await rowsOf(dbPath, 'SELECT run_id, a, b, c FROM "row" ORDER BY run_id')).toEqual([
    { run_id: "r1", a: "1", b: null, c: null },
    { run_id: "r2", a: "2", b: "2", c: null },
    { run_id: "r3", a: null, b: null, c: "3" },
    { run_id: "r4", a: "4", b: null, c: null },
  ]);
});

it("the loop path is a column, with another name if the outputs have a field 'path', even one that was added later", async () => {
  const dbPath = createStorePath();
  await store(dbPath, "r1", z.object({ a: z.string() }), { a: "1" });
  expect(await rowsOf(dbPath, 'SELECT run_id, path FROM "row"')).toEqual([{ run_id: "r1", path: "0" }]);
  await store(dbPath, "r2", z.object({ a: z.string(), path: z.string() }), { a: "2", path: "src" });
  expect(await rowsOf(dbPath, 'SELECT run_id, path, loop_path FROM "row" ORDER BY run_id')).toEqual([
    { run_id: "r1", path: null, loop_path: "0" },
    { run_id: "r2", path: "src", loop_path: "0" },
  ]);
});

it("a view of an earlier version gets the loop path when its workflow runs again", async () => {
  const dbPath = createStorePath();
  await store(dbPath, "r1", z.object({ a: z.string() }), { a: "1" });
  const field = dbPath.startsWith("postgres")
    ? "(CAST(output_json AS JSONB) ->> 'a')"
    : "json_extract(output_json, '$.a')";
  await changeRows(dbPath, 'DROP VIEW "row"');
  await changeRows(
    dbPath,
    `CREATE VIEW "row" AS SELECT run_id, node_id, iteration, ${field} AS "a" FROM toolwright_tasks WHERE output_key = 'row'`,
  );
  await changeRows(dbPath, `UPDATE toolwright_meta SET value = '["a"]' WHERE name = 'view row'`);
  await store(dbPath, "r2", z.object({ a: z.string() }), { a: "2" });
  expect(await rowsOf(dbPath, 'SELECT a, path FROM "row" ORDER BY a')).toEqual([
    { a: "1", path: "0" },
    { a: "2", path: "0" },
  ]);
});

it("an output that is not an object is the column value, next to fields with that name", async () => {
  const dbPath = createStorePath();
  await store(dbPath, "r1", z.string(), "plain");
  await store(dbPath, "r2", z.object({ value: z.number().nullable() }), { value: 7 });
  await store(dbPath, "r3", z.object({ value: z.number().nullable() }), { value: null });
  await store(dbPath, "r4", z.number(), 8);
  const rows = await rowsOf(dbPath, 'SELECT run_id, value FROM "row" ORDER BY run_id');
  expect(asTexts(rows)).toEqual([
    { run_id: "r1", value: "plain" },
    { run_id: "r2", value: "7" },
    { run_id: "r3", value: null },
    { run_id: "r4", value: "8" },
  ]);
});

it("a foreign table is left alone, and the view has the workflow's name too", async () => {
  const dbPath = createStorePath();
  await store(dbPath, "r0", z.string(), "makes the store");
  await changeRows(dbPath, 'DROP VIEW "row"');
  await changeRows(dbPath, "DELETE FROM toolwright_meta WHERE name = 'view row'");
  await changeRows(dbPath, 'CREATE TABLE "row" (mine TEXT)');
  for (const a of ["1", "2"]) await store(dbPath, `r${a}`, z.object({ a: z.string() }), { a });
  expect(await rowsOf(dbPath, 'SELECT * FROM "row"')).toEqual([]);
  expect(await rowsOf(dbPath, "SELECT a FROM stores__row WHERE run_id <> 'r0' ORDER BY a")).toEqual([
    { a: "1" },
    { a: "2" },
  ]);
});
