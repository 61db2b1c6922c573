/** Whether the `execute` of a tool reads its idempotency key. The fact outlives the calls that showed it. */
import { change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";

const UNREAD = "key unread by ";
const READ = "key read by ";

/** A call of the tool has ended without reading its key: the tool does not pass it on. */
export function hasUnreadKey(toolName: string): Transaction<boolean> {
  return hasCallWith(toolName, 0, UNREAD);
}

/** A call of the tool has read its key. */
export function hasReadKey(toolName: string): Transaction<boolean> {
  return hasCallWith(toolName, 1, READ);
}

function* hasCallWith(toolName: string, keyRead: 0 | 1, name: string): Transaction<boolean> {
  // The number is part of the text, so that the partial index over unread keys is used.
  const row = yield* first(
    `SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM toolwright_calls WHERE tool_name = ?1 AND key_read = ${keyRead})
       OR EXISTS (SELECT 1 FROM toolwright_meta WHERE name = ?2)`,
    toolName,
    name + toolName,
  );
  return row !== undefined;
}

/** Run before a run is deleted. */
export function* saveKeyReads(runId: string): Transaction<void> {
  for (const [keyRead, name] of [
    [0, UNREAD],
    [1, READ],
  ] as const) {
    yield* change(
      `INSERT INTO toolwright_meta (name, value) SELECT DISTINCT '${name}' || c.tool_name, '1'
       FROM toolwright_calls c JOIN toolwright_scopes s ON s.id = c.scope_id
       WHERE c.key_read = ${keyRead} AND s.run_id = ?1 ON CONFLICT DO NOTHING`,
      runId,
    );
  }
}
