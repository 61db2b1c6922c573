/** Pages of the calls of a run, newest first, without long values; and one value of a call, piece by piece. */
import { readInteger, readText, readTextOrNull } from "./columns.ts";
import { CALL_STATUSES } from "./calls.ts";
import { all, first, type Row, type SqlValue } from "../statement.ts";
import type { Store, Transaction } from "../store.ts";
import { columns, flag, integer, integerOrNull, oneOf, type RowOf, text, textOrNull } from "./table.ts";

/** The columns that determine the state of a call, and its place in the list. */
export const CALL_MARKS = columns({
  key: text("key"),
  attempt: integer("attempt"),
  seq: integer("seq"),
  status: oneOf("status", CALL_STATUSES),
  ownerId: textOrNull("owner_id"),
  startedAtMs: integer("started_at_ms"),
  finishedAtMs: integerOrNull("finished_at_ms"),
});

/** All that a list shows, with the previews. */
const HEADS = columns({
  ...CALL_MARKS.map,
  toolName: text("tool_name"),
  tries: integer("tries"),
  replayedFrom: integerOrNull("replayed_from"),
  fromCache: flag("from_cache"),
  isolation: textOrNull("isolation"),
  approvalId: textOrNull("approval_id"),
});

const PREVIEWS = columns({
  inputPreview: textOrNull("input_shown"),
  outputPreview: textOrNull("output_shown"),
  errorJson: textOrNull("error_shown"),
});

export type CallMark = RowOf<(typeof CALL_MARKS)["map"]>;

export interface CallHead extends RowOf<(typeof HEADS)["map"]>, RowOf<(typeof PREVIEWS)["map"]> {
  readonly nodeId: string;
  readonly iteration: number;
  readonly path: string;
  readonly parentKey: string;
}

/** The position after a call in the list. */
export interface CallCursor {
  readonly startedAtMs: number;
  readonly seq: number;
  readonly key: string;
  readonly attempt: number;
}

/** Most scopes have few calls. */
const CHUNKS = [16, 256, 1_024];

/**
 * Reads columns of all calls of a scope. It reads on from a key, and stops at the next scope: to check the end of a range,
 * SQLite would read each row as a whole, with its long values.
 */
export function* scanCalls<T>(
  scopeId: number,
  { list, parse }: { readonly list: () => string; readonly parse: (row: Row) => T },
  ...parameters: SqlValue[]
): Transaction<T[]> {
  const calls: T[] = [];
  let [key, attempt] = ["", 0];
  for (let round = 0; ; round += 1) {
    const limit = CHUNKS[Math.min(round, CHUNKS.length - 1)] ?? 0;
    const rows = yield* all(
      `SELECT scope_id, key AS scanned_key, attempt AS scanned_attempt, ${list()} FROM toolwright_calls
       WHERE (scope_id, key, attempt) > (CAST(?1 AS BIGINT), ?2, CAST(?3 AS BIGINT))
       ORDER BY scope_id, key, attempt LIMIT ?4`,
      scopeId,
      key,
      attempt,
      limit,
      ...parameters,
    );
    for (const row of rows) {
      if (readInteger(row, "scope_id") !== scopeId) return calls;
      calls.push(parse(row));
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) return calls;
    [key, attempt] = [readText(last, "scanned_key"), readInteger(last, "scanned_attempt")];
  }
}

interface ScopeOfCalls extends Pick<CallHead, "nodeId" | "iteration" | "path" | "parentKey"> {
  readonly id: number;
}

function* readScopes(runId: string): Transaction<ScopeOfCalls[]> {
  const rows = yield* all(
    "SELECT id, node_id, iteration, path, parent_key FROM toolwright_scopes WHERE run_id = ?1",
    runId,
  );
  return rows.map((row) => ({
    id: readInteger(row, "id"),
    nodeId: readText(row, "node_id"),
    iteration: readInteger(row, "iteration"),
    path: readText(row, "path"),
    parentKey: readText(row, "parent_key"),
  }));
}

/** All calls of a run, in no order. */
export function* readCallMarks(runId: string): Transaction<CallMark[]> {
  const calls: CallMark[] = [];
  // One by one: a call of `push` takes a limited number of arguments, and a scope may have more calls.
  for (const { id } of yield* readScopes(runId))
    for (const call of yield* scanCalls(id, CALL_MARKS)) calls.push(call);
  return calls;
}

/** Newest first. Sorts the marks of all calls of the run, and reads only the previews of those on the page. */
export function* listCallHeads(
  runId: string,
  { before, limit }: { readonly before?: CallCursor | undefined; readonly limit: number },
  dialect: Store["dialect"],
): Transaction<CallHead[]> {
  const found: { readonly scope: ScopeOfCalls; readonly mark: CallMark }[] = [];
  for (const scope of yield* readScopes(runId)) {
    for (const mark of yield* scanCalls(scope.id, CALL_MARKS)) found.push({ scope, mark });
  }
  const page = found
    .filter(({ mark }) => before === undefined || newestFirst(before, mark) < 0)
    .sort((one, other) => newestFirst(one.mark, other.mark))
    .slice(0, limit);
  const heads = new Map<string, HeadOfScope>();
  const wanted = new Set(page.map(({ mark }) => `${mark.attempt} ${mark.key}`));
  const [newest, oldest] = [page[0]?.mark.startedAtMs ?? 0, page.at(-1)?.mark.startedAtMs ?? 0];
  const parse = (row: Row): HeadOfScope | undefined =>
    wanted.has(`${readInteger(row, "attempt")} ${readText(row, "key")}`) ? toHead(row) : undefined;
  const reader = { list: () => headList(dialect), parse };
  for (const scope of new Set(page.map((one) => one.scope))) {
    for (const head of yield* scanCalls(scope.id, reader, oldest, newest))
      if (head !== undefined) heads.set(`${scope.id} ${head.attempt} ${head.key}`, head);
  }
  return page.flatMap(({ scope, mark }) => {
    const head = heads.get(`${scope.id} ${mark.attempt} ${mark.key}`);
    const { id: _id, ...place } = scope;
    return head === undefined ? [] : [{ ...head, ...place }];
  });
}

type HeadOfScope = RowOf<(typeof HEADS)["map"]> & RowOf<(typeof PREVIEWS)["map"]>;

function toHead(row: Row): HeadOfScope {
  return { ...HEADS.parse(row), ...PREVIEWS.parse(row) };
}

/** Previews only of the calls that started between ?5 and ?6. */
function headList(dialect: Store["dialect"]): string {
  const isOnPage = "started_at_ms BETWEEN ?5 AND ?6";
  const shown = (part: string): string =>
    // SQLite has stored the previews: a part of a long value would be read as a whole.
    dialect === "sqlite"
      ? `COALESCE(${part}_preview, ${part}_json)`
      : `CASE WHEN octet_length(${part}_json) > 400 THEN substr(${part}_json, 1, 300) ELSE ${part}_json END`;
  return [
    HEADS.list(),
    `CASE WHEN ${isOnPage} THEN ${shown("input")} END AS input_shown`,
    `CASE WHEN ${isOnPage} THEN ${shown("output")} END AS output_shown`,
    `CASE WHEN ${isOnPage} AND octet_length(error_json) <= 4000 THEN error_json END AS error_shown`,
  ].join(", ");
}

function newestFirst(one: CallCursor, other: CallCursor): number {
  if (one.startedAtMs !== other.startedAtMs) return other.startedAtMs - one.startedAtMs;
  if (one.seq !== other.seq) return other.seq - one.seq;
  if (one.key !== other.key) return one.key < other.key ? 1 : -1;
  return other.attempt - one.attempt;
}

export const CALL_PARTS = ["input", "output", "error"] as const;
export type CallPart = (typeof CALL_PARTS)[number];

export interface CallPlace {
  readonly key: string;
  readonly attempt: number;
  /** Without it, the scopes of all runs are searched, which takes longer the more there are. */
  readonly runId?: string | undefined;
}

/**
 * The whole text of one value, as it was stored: from the table of long values, else from the log. `undefined`: there is no
 * such call; `null`: the call has no such value.
 */
export function* readCallPart(at: CallPlace, part: CallPart): Transaction<string | null | undefined> {
  // By scope, not by key: the calls have no index of their keys, which every call would pay for.
  const row = yield* first(
    `SELECT c.${part}_json AS value FROM toolwright_scopes s
       JOIN toolwright_calls c ON c.scope_id = s.id AND c.key = ?1 AND c.attempt = ?2
     ${at.runId === undefined ? "" : "WHERE s.run_id = ?3"} LIMIT 1`,
    at.key,
    at.attempt,
    ...(at.runId === undefined ? [] : [at.runId]),
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
