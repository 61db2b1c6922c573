/** Tools of which a call has ended without reading its key: they do not pass it on. Known also when the call is deleted. */
import { change, first } from "./statement.ts";
import type { Transaction } from "./store.ts";

const NAME = "key unread by ";

export function* hasUnreadKey(toolName: string): Transaction<boolean> {
  const row = yield* first(
    `SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM toolwright_calls WHERE tool_name = ?1 AND key_read = 0)
       OR EXISTS (SELECT 1 FROM toolwright_meta WHERE name = ?2)`,
    toolName,
    NAME + toolName,
  );
  return row !== undefined;
}

/** Before a run is deleted. */
export function* keepUnreadKeys(runId: string): Transaction<void> {
  yield* change(
    `INSERT INTO toolwright_meta (name, value) SELECT DISTINCT '${NAME}' || c.tool_name, '1'
     FROM toolwright_calls c JOIN toolwright_scopes s ON s.id = c.scope_id
     WHERE c.key_read = 0 AND s.run_id = ?1 ON CONFLICT DO NOTHING`,
    runId,
  );
}
