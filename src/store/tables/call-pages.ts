/** Pages of the calls of a run, newest first, without long values; and one value of a call, piece by piece. */
import { readInteger, readText, readTextOrNull } from "./columns.ts";
import { CALL_STATUSES } from "./calls.ts";
import { all, first, type SqlValue } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { columns, flag, integer, integerOrNull, oneOf, type RowOf, text, textOrNull } from "./table.ts";

const HEADS = columns({
  key: text("key"),
  attempt: integer("attempt"),
  seq: integer("seq"),
  nodeId: text("node_id"),
  iteration: integer("iteration"),
  path: text("path"),
  parentKey: text("parent_key"),
  toolName: text("tool_name"),
  toolCallId: textOrNull("tool_call_id"),
  status: oneOf("status", CALL_STATUSES),
  startedAtMs: integer("started_at_ms"),
  finishedAtMs: integerOrNull("finished_at_ms"),
  tries: integer("tries"),
  replayedFrom: integerOrNull("replayed_from"),
  fromCache: flag("from_cache"),
  isolation: textOrNull("isolation"),
  approvalId: textOrNull("approval_id"),
  ownerId: textOrNull("owner_id"),
  inputPreview: textOrNull("input_preview"),
  outputPreview: textOrNull("output_preview"),
  errorJson: textOrNull("error_json"),
});

export type CallHead = RowOf<(typeof HEADS)["map"]>;

/** The position after a call in the list. */
export interface CallCursor {
  readonly startedAtMs: number;
  readonly seq: number;
  readonly key: string;
  readonly attempt: number;
}

const ORDER = ["started_at_ms", "seq", "key", "attempt"] as const;

/** Sorts the short columns of all calls of the run, and reads the previews of those on the page only. */
export function* listCallHeads(
  runId: string,
  { before, limit }: { readonly before?: CallCursor | undefined; readonly limit: number },
): Transaction<CallHead[]> {
  const parameters: SqlValue[] = [runId, limit];
  if (before !== undefined) parameters.push(before.startedAtMs, before.seq, before.key, before.attempt);
  const after =
    before === undefined
      ? ""
      : `AND (c.${ORDER.join(", c.")}) < (CAST(?3 AS BIGINT), CAST(?4 AS BIGINT), ?5, CAST(?6 AS BIGINT))`;
  const rows = yield* all(
    `SELECT ${HEADS.list("h")} FROM (
       SELECT c.scope_id, c.key, c.attempt FROM toolwright_scopes s JOIN toolwright_calls c ON c.scope_id = s.id
       WHERE s.run_id = ?1 ${after} ORDER BY c.${ORDER.join(" DESC, c.")} DESC LIMIT ?2) page
     JOIN toolwright_call_heads h ON h.scope_id = page.scope_id AND h.key = page.key AND h.attempt = page.attempt
     ORDER BY h.${ORDER.join(" DESC, h.")} DESC`,
    ...parameters,
  );
  return rows.map(HEADS.parse);
}

export const CALL_PARTS = ["input", "output", "error"] as const;
export type CallPart = (typeof CALL_PARTS)[number];

/** The number of calls of a run by stored status. */
export function* countCallsByStatus(runId: string): Transaction<Map<string, number>> {
  const rows = yield* all(
    `SELECT c.status AS status, CAST(COUNT(*) AS BIGINT) AS calls
     FROM toolwright_scopes s JOIN toolwright_calls c ON c.scope_id = s.id WHERE s.run_id = ?1 GROUP BY c.status`,
    runId,
  );
  return new Map(rows.map((row) => [readText(row, "status"), readInteger(row, "calls")]));
}

/** The owners of calls of a run that have started and not ended, and how many each has. */
export function* readStartedCalls(
  runId: string,
): Transaction<{ readonly ownerId: string | null; readonly calls: number }[]> {
  const rows = yield* all(
    `SELECT c.owner_id AS owner_id, CAST(COUNT(*) AS BIGINT) AS calls
     FROM toolwright_scopes s JOIN toolwright_calls c ON c.scope_id = s.id
     WHERE s.run_id = ?1 AND c.status = 'started' GROUP BY c.owner_id`,
    runId,
  );
  return rows.map((row) => ({ ownerId: readTextOrNull(row, "owner_id"), calls: readInteger(row, "calls") }));
}

/**
 * The whole text of one value, as it was stored: from the table of long values, else from the log. `undefined`: there is no
 * such call; `null`: the call has no such value.
 */
export function* readCallPart(
  at: { readonly key: string; readonly attempt: number },
  part: CallPart,
): Transaction<string | null | undefined> {
  // By scope, not by key: the calls have no index of their keys, which every call would pay for.
  const row = yield* first(
    `SELECT c.${part}_json AS value FROM toolwright_scopes s
       JOIN toolwright_calls c ON c.scope_id = s.id AND c.key = ?1 AND c.attempt = ?2 LIMIT 1`,
    at.key,
    at.attempt,
  );
  if (row === undefined) return undefined;
  const payload = yield* first(
    "SELECT body FROM toolwright_payloads WHERE key = ?1 AND attempt = ?2 AND part = ?3",
    at.key,
    at.attempt,
    part,
  );
  return payload === undefined ? readTextOrNull(row, "value") : readText(payload, "body");
}
