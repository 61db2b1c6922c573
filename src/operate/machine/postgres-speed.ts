/** Round trips, commits and calls on PostgreSQL, in a separate schema that is dropped afterwards. */
import { randomBytes } from "node:crypto";
import type { Client } from "pg";
import { messageOf } from "../../invoke/error-record.ts";
import { asStoreError, codeOf } from "../../store/postgres/errors.ts";
import { loadPg } from "../../store/postgres/postgres-store.ts";
import { withoutWaiting } from "../store-address.ts";
import { measureCalls } from "./call-speed.ts";
import { type Budget, judge, type Judgement, type Measurement, notMeasured, sample } from "./measurement.ts";

const SLOW_ROUND_TRIP_MS = 3;
const SLOW_COMMIT_MS = 15;
const SLOW_CALL_MS = 30;

export async function measurePostgres(address: string, budget: Budget): Promise<Measurement[]> {
  const client = await connect(address);
  try {
    const roundTrip = await sample(budget, () => client.query("SELECT 1"));
    const measured = [
      judge(
        {
          name: "round-trip",
          what: "one round trip to the database",
          slowMs: SLOW_ROUND_TRIP_MS,
          advice: "The database is distant: every call waits for several round trips. Run both in one place.",
        },
        roundTrip,
      ),
      await measureCommit(client, "commit", roundTrip.medianMs, budget),
      await measureCommit(client, "commit-full", roundTrip.medianMs, budget),
    ];
    if (isTooDistant(roundTrip.medianMs, budget)) return [...measured, ...TOO_DISTANT];
    return [...measured, ...(await measureInSchema(client, address, budget, measured))];
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
  roundTripMs: number,
  budget: Budget,
): Promise<Measurement> {
  const level = name === "commit-full" ? "on" : "off";
  const statement = `BEGIN; SET LOCAL synchronous_commit = ${level};
    SELECT pg_logical_emit_message(true, 'toolwright doctor', 'commit'); COMMIT`;
  try {
    const samples = await sample(budget, () => client.query(statement));
    return judge(commitJudgement(name, roundTripMs), samples);
  } catch (error) {
    budget.signal?.throwIfAborted();
    await client.query("ROLLBACK");
    return notMeasured(name, messageOf(error));
  }
}

/** To create the tables that calls need, and to make a few calls. */
const ROUND_TRIPS_OF_CALLS = 90;

/** Whether to measure calls would take longer than all measurements together should. */
export function isTooDistant(roundTripMs: number, { untilMs = Infinity }: Budget): boolean {
  return performance.now() + roundTripMs * ROUND_TRIPS_OF_CALLS > untilMs;
}

const TOO_DISTANT = (["call", "side-effect"] as const).map((name) =>
  notMeasured(
    name,
    "the database is so distant that it would take too long",
    "See the advice for the round trip above.",
  ),
);

/** A commit is one round trip. Only the rest is the time of the server. */
export function commitJudgement(name: "commit" | "commit-full", roundTripMs: number): Judgement {
  const isFull = name === "commit-full";
  return {
    name,
    what: isFull ? "one commit that survives a power loss of the server" : "one commit that does not wait",
    slowMs: SLOW_COMMIT_MS + roundTripMs,
    advice: "The disk of the database server, or a synchronous replica, is slow.",
  };
}

async function measureInSchema(
  client: Client,
  address: string,
  budget: Budget,
  earlier: readonly Measurement[],
): Promise<Measurement[]> {
  const schema = `toolwright_doctor_${randomBytes(6).toString("hex")}`;
  try {
    await client.query(`CREATE SCHEMA ${schema}`);
  } catch (error) {
    return withoutCalls(
      error,
      codeOf(error) === INSUFFICIENT_PRIVILEGE
        ? "Allow the user to create a schema (GRANT CREATE ON DATABASE …), only for this measurement."
        : null,
    );
  }
  try {
    return await measureCalls(inSchema(withoutWaiting(address), schema), budget, SLOW_CALL_MS, earlier);
  } catch (error) {
    budget.signal?.throwIfAborted();
    return withoutCalls(error, OWN_CONNECTIONS);
  } finally {
    await client.query(`DROP SCHEMA ${schema} CASCADE`);
  }
}

const INSUFFICIENT_PRIVILEGE = "42501";
const OWN_CONNECTIONS =
  "Calls need connections of their own, whose options set a schema. If a pooler such as PgBouncer refuses them, use the address of " +
  "the server itself.";

function withoutCalls(error: unknown, remedy: string | null): Measurement[] {
  return [
    notMeasured("call", messageOf(error), remedy),
    notMeasured("side-effect", messageOf(error), remedy),
  ];
}

/** The address with this schema as the first in the search path. */
export function inSchema(address: string, schema: string): string {
  const url = new URL(address);
  const given = url.searchParams.get("options");
  url.searchParams.set("options", `${given === null ? "" : `${given} `}-c search_path=${schema}`);
  // PostgreSQL does not read "+" as a space.
  return url.href.replaceAll("+", "%20");
}
