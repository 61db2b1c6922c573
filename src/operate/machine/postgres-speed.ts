/** Round trips, commits and calls on PostgreSQL, in a separate schema that is dropped afterwards. */
import { randomBytes } from "node:crypto";
import type { Client } from "pg";
import { messageOf } from "../../invoke/error-record.ts";
import { asStoreError } from "../../store/postgres/errors.ts";
import { loadPg } from "../../store/postgres/postgres-store.ts";
import { measureCalls } from "./call-speed.ts";
import { type Budget, judge, type Measurement, notMeasured, sample } from "./measurement.ts";

const SLOW_ROUND_TRIP_MS = 3;
const SLOW_COMMIT_MS = 15;
const SLOW_CALL_MS = 30;

export async function measurePostgres(address: string, budget: Budget): Promise<Measurement[]> {
  const client = await connect(address);
  try {
    return [
      judge(
        {
          name: "round-trip",
          what: "one round trip to the database",
          slowMs: SLOW_ROUND_TRIP_MS,
          advice: "The database is distant: every call waits for several round trips. Run both in one place.",
        },
        await sample(budget, () => client.query("SELECT 1")),
      ),
      await measureCommit(client, "commit", "off", budget),
      await measureCommit(client, "commit-full", "on", budget),
      ...(await measureInSchema(client, address, budget)),
    ];
  } finally {
    await client.end();
  }
}

/** @throws TOOL_STORE_FAILED, as when the store is opened */
async function connect(address: string): Promise<Client> {
  const pg = await loadPg();
  try {
    const client = new pg.Client({ connectionString: address, connectionTimeoutMillis: 10_000 });
    // A lost connection rejects the query in flight; without a listener it would also end the process.
    client.on("error", () => undefined);
    await client.connect();
    return client;
  } catch (error) {
    throw asStoreError(error);
  }
}

/** A message in the log of the server: it is flushed with the commit, and changes no table. */
async function measureCommit(
  client: Client,
  name: "commit" | "commit-full",
  level: "on" | "off",
  budget: Budget,
): Promise<Measurement> {
  const statement = `BEGIN; SET LOCAL synchronous_commit = ${level};
    SELECT pg_logical_emit_message(true, 'toolwright doctor', 'commit'); COMMIT`;
  const what =
    level === "on" ? "one commit that survives a power loss of the server" : "one commit that does not wait";
  try {
    return judge(
      {
        name,
        what,
        slowMs: SLOW_COMMIT_MS,
        advice: "The disk of the database server, or a synchronous replica, is slow.",
      },
      await sample(budget, () => client.query(statement)),
    );
  } catch (error) {
    budget.signal?.throwIfAborted();
    await client.query("ROLLBACK");
    return notMeasured(name, messageOf(error));
  }
}

async function measureInSchema(client: Client, address: string, budget: Budget): Promise<Measurement[]> {
  const schema = `toolwright_doctor_${randomBytes(6).toString("hex")}`;
  try {
    await client.query(`CREATE SCHEMA ${schema}`);
  } catch (error) {
    const remedy =
      "Allow the user to create a schema (GRANT CREATE ON DATABASE …), only for this measurement.";
    return [
      notMeasured("call", messageOf(error), remedy),
      notMeasured("side-effect", messageOf(error), remedy),
    ];
  }
  try {
    return await measureCalls(inSchema(address, schema), budget, SLOW_CALL_MS);
  } finally {
    await client.query(`DROP SCHEMA ${schema} CASCADE`);
  }
}

/** The address with this schema as the first in the search path. */
export function inSchema(address: string, schema: string): string {
  const url = new URL(address);
  const given = url.searchParams.get("options");
  url.searchParams.set("options", `${given === null ? "" : `${given} `}-c search_path=${schema}`);
  // PostgreSQL does not read "+" as a space.
  return url.href.replaceAll("+", "%20");
}
