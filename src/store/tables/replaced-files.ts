/** The content that `write` and `edit` replaced, for their reverts. Encrypted: the log does not show it either. */
import { readText } from "./columns.ts";
import { change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";

export function saveReplaced(key: string, attempt: number, body: string): Transaction<number> {
  return change(
    `INSERT INTO toolwright_replaced_files (key, attempt, body) VALUES (?1, ?2, ?3)
     ON CONFLICT (key, attempt) DO UPDATE SET body = excluded.body`,
    key,
    attempt,
    body,
  );
}

export function* readReplaced(key: string, attempt: number): Transaction<string | undefined> {
  const row = yield* first(
    "SELECT body FROM toolwright_replaced_files WHERE key = ?1 AND attempt = ?2",
    key,
    attempt,
  );
  return row && readText(row, "body");
}
