/** SQL views of task outputs, with one column for each field, for any database client. */
import { readText } from "./columns.ts";
import { all, change, first } from "../statement.ts";
import type { Store, Transaction } from "../store.ts";

/** The column of an output that is not an object. */
export const WHOLE_VALUE = "value";

/**
 * A column of a view: a field of the outputs, or `null` for the loop path, which distinguishes passes of nested loops. The
 * path column is named `path`, or `loop_path` where the outputs have a field `path`.
 */
type Column = string | null;

/**
 * A view of a key has the fields of all outputs ever stored under it: a schema that grows, and workflows that share a key,
 * add columns. Its name is the key, or workflow and key where another table has that name. Returns `undefined` when both
 * names are taken.
 */
export function* createOutputView(
  dialect: Store["dialect"],
  workflow: string,
  key: string,
  fields: readonly string[],
): Transaction<string | undefined> {
  const names = [key, `${workflow}__${key}`];
  const wanted: readonly Column[] = [null, ...fields];
  for (const name of names) if (holds(yield* columnsOfView(name), wanted)) return name;
  // If several processes start at the same time, one creates the view; the others wait here and then see it.
  yield* first("SELECT value FROM toolwright_meta WHERE name = 'secret' {update}");
  for (const name of names) {
    const existing = yield* columnsOfView(name);
    if (existing === undefined && (yield* isTaken(dialect, name))) continue;
    if (holds(existing, wanted)) return name;
    // Existing columns keep their order: PostgreSQL refuses to change it.
    const columns = [...new Set([...(existing ?? []), ...wanted])];
    if (dialect === "sqlite") yield* change(`DROP VIEW IF EXISTS ${identifier(name)}`);
    else if (existing?.includes(null) === true && pathName(existing) !== pathName(columns)) {
      yield* change(
        `ALTER VIEW ${identifier(name)} RENAME COLUMN ${pathName(existing)} TO ${pathName(columns)}`,
      );
    }
    yield* change(viewSql(dialect, name, key, columns, name === key ? undefined : workflow));
    yield* change(
      "INSERT INTO toolwright_meta VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      `view ${name}`,
      JSON.stringify(columns),
    );
    return name;
  }
  return undefined;
}

function holds(existing: readonly Column[] | undefined, wanted: readonly Column[]): boolean {
  return existing !== undefined && wanted.every((column) => existing.includes(column));
}

function pathName(columns: readonly Column[]): string {
  const taken = new Set(columns.map((column) => column?.toLowerCase()));
  return ["path", "loop_path"].find((name) => !taken.has(name)) ?? "toolwright_loop_path";
}

function* columnsOfView(name: string): Transaction<Column[] | undefined> {
  const row = yield* first("SELECT value FROM toolwright_meta WHERE name = ?1", `view ${name}`);
  return row === undefined ? undefined : (JSON.parse(readText(row, "value")) as Column[]);
}

/** A table or view of another program is never replaced. */
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
  fields: readonly Column[],
  workflow: string | undefined,
): string {
  const columns = fields.map((field) =>
    field === null
      ? // As the log shows it: a task outside any loop is in pass 0.
        `CASE WHEN path = '' THEN '0' ELSE path END AS ${pathName(fields)}`
      : `${fieldSql(dialect, field)} AS ${identifier(field)}`,
  );
  const only =
    workflow === undefined
      ? ""
      : ` AND run_id IN (SELECT run_id FROM toolwright_workflow_runs WHERE workflow = ${literal(workflow)})`;
  const create = dialect === "sqlite" ? "CREATE VIEW" : "CREATE OR REPLACE VIEW";
  return `${create} ${identifier(name)} AS SELECT ${["run_id", "node_id", "iteration", ...columns].join(", ")}
    FROM toolwright_tasks WHERE status = 'finished' AND output_key = ${literal(key)}${only}`;
}

function fieldSql(dialect: Store["dialect"], field: string): string {
  const { type, value, whole } = dialect === "sqlite" ? sqliteField(field) : postgresField(field);
  // An output that is not an object has no fields: the column is the output itself.
  return field === WHOLE_VALUE ? `CASE WHEN ${type} IS NULL THEN ${whole} ELSE ${value} END` : value;
}

interface FieldSql {
  /** NULL where there is no such field. */
  readonly type: string;
  readonly value: string;
  readonly whole: string;
}

function sqliteField(field: string): FieldSql {
  const path = literal(`$."${field.replaceAll('"', '\\"')}"`);
  return {
    type: `json_type(output_json, ${path})`,
    value: `json_extract(output_json, ${path})`,
    whole: "json_extract(output_json, '$')",
  };
}

function postgresField(field: string): FieldSql {
  const [output, name] = ["CAST(output_json AS JSONB)", literal(field)];
  return {
    type: `(${output} -> ${name})`,
    value: `(${output} ->> ${name})`,
    whole: `(${output} #>> '{}')`,
  };
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
