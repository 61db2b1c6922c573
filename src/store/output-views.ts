/** Views of outputs: one column per field, so that any client can ask what was stored. */
import { all, change, first } from "./statement.ts";
import type { Store, Transaction } from "./store.ts";

/** The column of an output that is not an object. */
export const WHOLE_VALUE = "value";

/** The name that the view has: the key, or, where other fields are stored under that one, the workflow's and the key. */
export function* createOutputView(
  dialect: Store["dialect"],
  workflow: string,
  key: string,
  fields: readonly string[],
): Transaction<string> {
  const shape = JSON.stringify(fields);
  const names = [key, `${workflow}__${key}`];
  const made = yield* findView(names, shape);
  if (made !== undefined) return made;
  // Of those who start at once one makes it; the others see it when they have waited for that.
  yield* first("SELECT value FROM toolwright_meta WHERE name = 'secret' {update}");
  const madeByOther = yield* findView(names, shape);
  if (madeByOther !== undefined) return madeByOther;
  for (const name of names) {
    if ((yield* shapeOfView(name)) !== undefined || (yield* isTaken(dialect, name))) continue;
    yield* change(viewSql(dialect, name, key, fields, name === key ? undefined : workflow));
    yield* change(
      "INSERT INTO toolwright_meta VALUES (?1, ?2) ON CONFLICT DO NOTHING",
      `view ${name}`,
      shape,
    );
    return name;
  }
  return `${workflow}__${key}`;
}

function* findView(names: readonly string[], shape: string): Transaction<string | undefined> {
  for (const name of names) if ((yield* shapeOfView(name)) === shape) return name;
  return undefined;
}

function* shapeOfView(name: string): Transaction<unknown> {
  return (yield* first("SELECT value FROM toolwright_meta WHERE name = ?1", `view ${name}`))?.["value"];
}

/** A table or view of somebody else's is never replaced. */
function* isTaken(dialect: Store["dialect"], name: string): Transaction<boolean> {
  const sql =
    dialect === "sqlite"
      ? "SELECT 1 AS found FROM sqlite_master WHERE lower(name) = lower(?1)"
      : "SELECT 1 AS found FROM pg_class WHERE relname = ?1 AND relnamespace = CAST(current_schema() AS regnamespace)";
  return (yield* all(sql, name)).length > 0;
}

function viewSql(
  dialect: Store["dialect"],
  name: string,
  key: string,
  fields: readonly string[],
  workflow: string | undefined,
): string {
  const columns = fields.map((field) => `${fieldSql(dialect, field)} AS ${identifier(field)}`);
  // Workflows that have a view of their own are not in the one that has the shorter name.
  const only =
    workflow === undefined
      ? ` AND NOT EXISTS (SELECT 1 FROM toolwright_workflow_runs r
          JOIN toolwright_meta m ON m.name = 'view ' || r.workflow || ${literal(`__${key}`)}
          WHERE r.run_id = toolwright_tasks.run_id)`
      : ` AND run_id IN (SELECT run_id FROM toolwright_workflow_runs WHERE workflow = ${literal(workflow)})`;
  return `CREATE VIEW ${identifier(name)} AS SELECT ${["run_id", "node_id", "iteration", ...columns].join(", ")}
    FROM toolwright_tasks WHERE status = 'finished' AND output_key = ${literal(key)}${only}`;
}

function fieldSql(dialect: Store["dialect"], field: string): string {
  if (field === WHOLE_VALUE) return "output_json";
  return dialect === "sqlite"
    ? `json_extract(output_json, ${literal(`$."${field.replaceAll('"', '\\"')}"`)})`
    : `(CAST(output_json AS JSONB) ->> ${literal(field)})`;
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
