/** Writes a PostgreSQL store as SQL text: the released migrations, the rows, the counters and the views of outputs. */
import { readdirSync, readFileSync } from "node:fs";
import { Client } from "pg";

const MIGRATIONS = new URL("../../sql/postgres/", import.meta.url);
const OWN_VIEW = "_smithers_tool_calls";

export async function dumpPostgres(address: string): Promise<string> {
  const client = new Client({ connectionString: address });
  await client.connect();
  try {
    const names = async (sql: string): Promise<string[]> =>
      (await client.query<{ name: string }>(sql)).rows.map(({ name }) => name);
    const version = await client.query<{ value: string }>(
      "SELECT value FROM toolwright_meta WHERE name = 'version'",
    );
    const parts = [
      "CREATE TABLE toolwright_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);",
      ...migrationsUpTo(Number(version.rows[0]?.value)),
    ];
    const tables = await names(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename",
    );
    for (const table of tables) parts.push(...(await insertsOf(client, table)));
    for (const view of await names(
      `SELECT viewname AS name FROM pg_views WHERE schemaname = current_schema() AND viewname <> '${OWN_VIEW}' ORDER BY viewname`,
    )) {
      const id = client.escapeIdentifier(view);
      const { rows } = await client.query<{ sql: string }>("SELECT pg_get_viewdef($1::regclass) AS sql", [
        id,
      ]);
      parts.push(`CREATE VIEW ${id} AS ${rows[0]?.sql}`);
    }
    return `${parts.join("\n")}\n`;
  } finally {
    await client.end();
  }
}

function migrationsUpTo(version: number): string[] {
  return readdirSync(MIGRATIONS)
    .filter((name) => Number(name.slice(0, 4)) <= version)
    .sort()
    .map((name) => readFileSync(new URL(name, MIGRATIONS), "utf8"))
    .map((sql) => sql.replaceAll(/\s*--.*$/gm, "").replaceAll(/\n{2,}/g, "\n"));
}

async function insertsOf(client: Client, table: string): Promise<string[]> {
  const columns = await client.query<{ name: string; counts: boolean }>(
    `SELECT column_name AS name, is_identity = 'YES' AS counts FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`,
    [table],
  );
  const names = columns.rows.map(({ name }) => name);
  const { rows } = await client.query<Record<string, string | null>>(
    `SELECT ${names.map((name) => `${name}::text AS ${name}`).join(", ")} FROM ${table} ORDER BY 1, 2`,
  );
  if (rows.length === 0) return [];
  const values = rows.map((row) => {
    const cells = names.map((name) => {
      const cell = row[name];
      return cell === null || cell === undefined ? "NULL" : client.escapeLiteral(cell);
    });
    return `(${cells.join(",")})`;
  });
  const counter = columns.rows.find(({ counts }) => counts)?.name;
  const insert = `INSERT INTO ${table} (${names.join(", ")})${counter === undefined ? "" : " OVERRIDING SYSTEM VALUE"} VALUES\n${values.join(",\n")};`;
  if (counter === undefined) return [insert];
  return [
    insert,
    `SELECT setval(pg_get_serial_sequence('${table}', '${counter}'), (SELECT max(${counter}) FROM ${table}));`,
  ];
}
