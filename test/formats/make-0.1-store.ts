/**
 * How the stores in `0.1/` were made. It was run once, on the code of version 0.1.0, and is kept to show what is in them:
 *
 *     npm run build && node test/formats/make-0.1-store.ts
 *
 * Do not run it on a later version: the point of the stores is that 0.1 wrote them. Use a checkout of 0.1 with this
 * folder copied into it. A later release gets a script and a folder of its own. The programs import "toolwright", which
 * is the build when Node runs them.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { Client } from "pg";
import { preparePublicRoot } from "../public-root.ts";
import { startServer } from "../postgres/start-server.ts";
import { dumpPostgres } from "./dump-postgres.ts";
import type { ProgramName } from "./programs/run.ts";
import { openWorld, type World } from "./world.ts";

/** In this order; `held` names the effect after which the process is killed. */
const STARTS: readonly { readonly program: ProgramName; readonly held?: string }[] = [
  { program: "finishedWorkflow" },
  { program: "finishedLoops" },
  { program: "interruptedLoops", held: "pay loops held" },
  { program: "interruptedAgent", held: "pay agent held" },
  { program: "waitingWorkflow" },
  { program: "bareCalls", held: "pay held" },
  { program: "businessKeys", held: "ship held" },
  { program: "cachedCalls" },
  { program: "redactedCalls" },
  { program: "outputValues" },
  { program: "argumentValues", held: "pay arguments held" },
  // Approved, and not redeemed.
  { program: "errorArguments" },
  { program: "requestRefunds" },
  { program: "notifyHeld", held: "notify held" },
  { program: "notifyAsked", held: "notify asked" },
  // Asked about, and not answered.
  { program: "notifyAsked" },
  { program: "aiSdkRun", held: "pay sdk held" },
  { program: "aiSdkRecorded", held: "pay recorded held" },
  { program: "anthropicLoop", held: "pay anthropic held" },
  { program: "anthropicChat" },
  { program: "smartAgentInterrupted", held: "pay smart held" },
  { program: "smartAgentFinished" },
];

/** The stores look as if they were made then: no machine's clock is behind it, so every lease in them has expired. */
const MADE_AT_MS = Date.UTC(2025, 0, 1);

/** Replaces what identifies the machine that made the store, and moves all times. Owners elsewhere are judged by their lease. */
function anonymize(columns: readonly { readonly table: string; readonly column: string }[]): string {
  const laterMs = Date.now() - MADE_AT_MS;
  const moves = columns
    .filter(({ column }) => column.endsWith("_ms"))
    .map(({ table, column }) => `UPDATE ${table} SET ${column} = ${column} - ${laterMs}`);
  return [
    "UPDATE toolwright_owners SET host = 'elsewhere', pid = 1, process_start = '0'",
    // The order in which tasks ended starts from the time in microseconds.
    `UPDATE toolwright_tasks SET position = position - ${laterMs * 1_000}`,
    ...moves,
  ].join(";\n");
}

async function run(world: World, store: string, program: ProgramName, held?: string): Promise<unknown> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, "programs/run.ts"), program, store, world.url],
    { stdio: ["ignore", "pipe", "ignore"] },
  );
  if (held !== undefined) void world.hold(held).then(() => child.kill("SIGKILL"));
  const [said, code] = await Promise.all([
    text(child.stdout),
    new Promise<number | string | null>((resolve) =>
      child.once("exit", (status, signal) => resolve(status ?? signal)),
    ),
  ]);
  if (code !== (held === undefined ? 0 : "SIGKILL")) throw new Error(`${program} ended with ${code}`);
  return held === undefined ? (JSON.parse(said) as unknown) : undefined;
}

/** Stores the external state too: the ledger, and the programs' reports. */
async function make(store: string, file: string): Promise<void> {
  await using world = await openWorld();
  const reports: Record<string, unknown> = {};
  for (const { program, held } of STARTS) {
    const report = await run(world, store, program, held);
    if (report !== undefined) reports[program] = report;
  }
  const outside = { ledger: world.ledger, reports };
  writeFileSync(join(import.meta.dirname, "0.1", file), `${JSON.stringify(outside, null, 2)}\n`);
}

async function makeSqlite(folder: string): Promise<void> {
  const path = join(folder, "store.db");
  await make(path, "outside-sqlite.json");
  const database = new DatabaseSync(path);
  const columns = database.prepare(
    `SELECT t.name AS "table", c.name AS "column" FROM sqlite_master t, pragma_table_info(t.name) c
     WHERE t.type = 'table' AND t.name LIKE 'toolwright\\_%' ESCAPE '\\'`,
  );
  database.exec(anonymize(columns.all() as { table: string; column: string }[]));
  database.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  writeFileSync(join(import.meta.dirname, "0.1/store.db.gz"), gzipSync(readFileSync(path), { level: 9 }));
}

async function makePostgres(root: string): Promise<void> {
  const server = await startServer(root);
  const address = `${server.address}/postgres`;
  try {
    await make(address, "outside-postgres.json");
    const client = new Client({ connectionString: address });
    await client.connect();
    const { rows } = await client.query<{ table: string; column: string }>(
      `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
       JOIN information_schema.tables USING (table_schema, table_name)
       WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`,
    );
    await client.query(anonymize(rows));
    await client.end();
    writeFileSync(join(import.meta.dirname, "0.1/postgres.sql"), await dumpPostgres(address));
  } finally {
    await server.end();
  }
}

const folder = mkdtempSync(join(tmpdir(), "toolwright-formats-"));
const root = preparePublicRoot();
try {
  await makeSqlite(folder);
  await makePostgres(root.path);
} finally {
  rmSync(folder, { recursive: true, force: true });
  root.remove();
}
