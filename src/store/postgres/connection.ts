/** Facts about a connection: the server history that it writes to, and whether a pooler is in between. */
import type { ClientBase } from "pg";
import { codeOf, isUnavailable } from "./errors.ts";

/**
 * The cluster and its timeline. After a failover to a replica that lagged behind, the same transaction id means another
 * transaction: ids are compared only within one history.
 */
const HISTORY = `(SELECT system_identifier FROM pg_control_system()) || ' ' ||
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`;

const histories = new WeakMap<ClientBase, string>();

/** Remembers the history of a new connection. */
export async function examineConnection(client: ClientBase): Promise<void> {
  const history = await readHistory(client);
  if (history !== undefined) histories.set(client, history);
}

export function historyOf(client: ClientBase): string | undefined {
  return histories.get(client);
}

/** `undefined` for a server without these functions. */
async function readHistory(client: ClientBase): Promise<string | undefined> {
  try {
    const { rows } = await client.query<{ history: string }>(`SELECT ${HISTORY} AS history`);
    return rows[0]?.history;
  } catch (error) {
    if (isUnavailable(error) || codeOf(error) === "") throw error;
    return undefined;
  }
}

/** Poolers such as PgBouncer report process ids of their own. */
export async function isPooled(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return "processID" in client && client.processID !== rows[0]?.pid;
}

export type CommitStatus = "committed" | "aborted" | "in progress" | "unknown";

/** The status of a transaction whose connection was lost during COMMIT. */
export async function statusOfCommit(
  client: ClientBase,
  transactionId: string,
  history: string | undefined,
): Promise<CommitStatus> {
  if (history === undefined || (await readHistory(client)) !== history) return "unknown";
  const { rows } = await client.query<{ status: CommitStatus | null }>(
    "SELECT txid_status(CAST($1 AS BIGINT)) AS status",
    [transactionId],
  );
  return rows[0]?.status ?? "unknown";
}
