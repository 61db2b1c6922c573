/** Facts about a connection: the server history that it writes to, and whether a pooler is in between. */
import type { ClientBase } from "pg";
import { codeOf, isUnavailable } from "./errors.ts";

/**
 * The cluster and its timeline: after a failover to a replica that lagged behind, the same transaction id means another
 * transaction. And when the server last discarded its statistics, which it does when it recovers from a crash: the ids of
 * transactions that left no trace in its log are then given to new ones.
 */
const HISTORY = `(SELECT system_identifier FROM pg_control_system()) || ' ' ||
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS timeline,
  COALESCE((SELECT CAST(stats_reset AS TEXT) FROM pg_stat_bgwriter), '') AS recovered`;

export interface History {
  readonly timeline: string;
  readonly recovered: string;
}

const histories = new WeakMap<ClientBase, History>();

/** Remembers the history of a new connection. */
export async function examineConnection(client: ClientBase): Promise<void> {
  const history = await readHistory(client);
  if (history !== undefined) histories.set(client, history);
}

export function historyOf(client: ClientBase): History | undefined {
  return histories.get(client);
}

/** `undefined` for a server without these functions. */
async function readHistory(client: ClientBase): Promise<History | undefined> {
  try {
    const { rows } = await client.query<{ timeline: string; recovered: string }>(`SELECT ${HISTORY}`);
    return rows[0];
  } catch (error) {
    if (isUnavailable(error) || codeOf(error) === "") throw error;
    return undefined;
  }
}

/** Poolers such as PgBouncer report their own process ids. */
export async function isPooled(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return "processID" in client && client.processID !== rows[0]?.pid;
}

export type CommitStatus = "committed" | "aborted" | "in progress" | "unknown";

/** The status of a transaction whose connection was lost during COMMIT. */
export async function statusOfCommit(
  client: ClientBase,
  transactionId: string,
  history: History | undefined,
): Promise<CommitStatus> {
  const current = await readHistory(client);
  if (history === undefined || current?.timeline !== history.timeline) return "unknown";
  const status = await readStatus(client, transactionId);
  // After a crash the id may belong to another transaction. If so, ours was lost: every other status holds for ours, too.
  return status === "committed" && current.recovered !== history.recovered ? "unknown" : status;
}

// invalid_parameter_value: "transaction ID is in the future".
const NOT_ASSIGNED = "22023";

async function readStatus(client: ClientBase, transactionId: string): Promise<CommitStatus> {
  try {
    const { rows } = await client.query<{ status: CommitStatus | null }>(
      "SELECT txid_status(CAST($1 AS BIGINT)) AS status",
      [transactionId],
    );
    return rows[0]?.status ?? "unknown";
  } catch (error) {
    // A crash has lost the transaction, and none has got its id since.
    if (codeOf(error) === NOT_ASSIGNED) return "aborted";
    throw error;
  }
}
