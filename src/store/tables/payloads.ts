/** The full text of values that the log truncates. */
import { readText } from "./columns.ts";
import { all, change } from "../statement.ts";
import type { Transaction } from "../store.ts";

export function savePayload(
  key: string,
  attempt: number,
  part: "input" | "output",
  body: string,
): Transaction<number> {
  return change(
    `INSERT INTO toolwright_payloads VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (key, attempt, part) DO UPDATE SET body = excluded.body`,
    key,
    attempt,
    part,
    body,
  );
}

export function* readPayload(
  key: string,
  attempt: number | null,
  part: "input" | "output",
): Transaction<string | undefined> {
  const rows = yield* all(
    `SELECT body FROM toolwright_payloads
     WHERE key = ?1 AND part = ?2 AND (CAST(?3 AS BIGINT) IS NULL OR attempt = ?3) ORDER BY attempt DESC LIMIT 1`,
    key,
    part,
    attempt,
  );
  const row = rows[0];
  return row === undefined ? undefined : readText(row, "body");
}
