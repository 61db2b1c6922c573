/** Context items and their chunks, which change together. */
import { readInteger } from "../tables/columns.ts";
import { columns, flag, integer, type RowOf, text, textOrNull } from "../tables/table.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { inLocation, type ItemLocation, locationParameters } from "./location.ts";
import { forgetChunks, indexNewChunks, toWordColumn, type WordIndex } from "./word-index.ts";

const CONTENT = columns({
  bytes: integer("bytes"),
  sha256: text("sha256"),
  source: textOrNull("source"),
  content: text("content"),
});

const ITEMS = columns({
  id: integer("id"),
  drive: text("drive"),
  path: text("path"),
  version: integer("version"),
  ...CONTENT.map,
});

const WRITES = columns({
  version: integer("version"),
  created: flag("created"),
  changed: flag("changed"),
});

export interface Chunk {
  readonly startChar: number;
  readonly chars: number;
  readonly startLine: number;
  readonly words: readonly string[];
}

export interface ItemWrite extends RowOf<(typeof CONTENT)["map"]> {
  readonly drive: string;
  readonly path: string;
  readonly chunks: readonly Chunk[];
  /** For an existing item: `true` replaces it, a number only that version, `false` never. */
  readonly replace: boolean | number;
  /** The idempotency key of the writing call, so that it writes once. */
  readonly key: string | undefined;
  readonly nowMs: number;
}

export type WriteResult =
  | ({ readonly kind: "written" } & RowOf<(typeof WRITES)["map"]>)
  | { readonly kind: "conflict"; readonly version: number };

const SAVE_WRITE = `INSERT INTO toolwright_context_writes (key, ${WRITES.list()}) VALUES (?1, ${WRITES.parameters(2)})`;
const READ_WRITE = `SELECT ${WRITES.list()} FROM toolwright_context_writes WHERE key = ?1`;

export function* writeItem(index: WordIndex, item: ItemWrite): Transaction<WriteResult> {
  const before = item.key === undefined ? undefined : yield* readWrite(item.key);
  if (before !== undefined) return before;
  const result = yield* putItem(index, item);
  if (result.kind === "written" && item.key !== undefined) {
    yield* change(SAVE_WRITE, item.key, ...WRITES.values(result));
  }
  return result;
}

function* readWrite(key: string): Transaction<WriteResult | undefined> {
  const row = yield* first(READ_WRITE, key);
  return row && { kind: "written", ...WRITES.parse(row) };
}

const STORED = ITEMS.pick("id", "version", "sha256", "source");

const INSERT = `INSERT INTO toolwright_context_items
  (drive, path, version, created_at_ms, updated_at_ms, ${CONTENT.list()})
VALUES (?1, ?2, 1, ?3, ?3, ${CONTENT.parameters(4)}) ON CONFLICT (drive, path) DO NOTHING RETURNING id`;

const LOCK = `SELECT ${STORED.list()} FROM toolwright_context_items WHERE drive = ?1 AND path = ?2 {update}`;

const UPDATE = `UPDATE toolwright_context_items SET version = ?2, updated_at_ms = ?3, ${CONTENT.assignments(4)}
WHERE id = ?1`;

function* putItem(index: WordIndex, item: ItemWrite): Transaction<WriteResult> {
  const created = yield* first(INSERT, item.drive, item.path, item.nowMs, ...CONTENT.values(item));
  if (created !== undefined) {
    yield* addChunks(index, readInteger(created, "id"), item.chunks);
    return { kind: "written", version: 1, created: true, changed: true };
  }
  const row = yield* first(LOCK, item.drive, item.path);
  if (row === undefined) throw new Error("the context item can neither be read nor created");
  const { id, version, sha256, source } = STORED.parse(row);
  const { replace } = item;
  if (replace === false || (typeof replace === "number" && replace !== version)) {
    return { kind: "conflict", version };
  }
  const isSame = sha256 === item.sha256;
  if (isSame && source === item.source) {
    return { kind: "written", version, created: false, changed: false };
  }
  const next = isSame ? version : version + 1;
  yield* change(UPDATE, id, next, item.nowMs, ...CONTENT.values(item));
  if (!isSame) {
    yield* forgetChunks(index, id);
    yield* change("DELETE FROM toolwright_context_chunks WHERE item_id = ?1", id);
    yield* addChunks(index, id, item.chunks);
  }
  return { kind: "written", version: next, created: false, changed: !isSame };
}

function* addChunks(index: WordIndex, itemId: number, chunks: readonly Chunk[]): Transaction<void> {
  const words = index === "tsvector" ? "CAST(?6 AS TSVECTOR)" : "?6";
  for (const [position, chunk] of chunks.entries()) {
    yield* change(
      `INSERT INTO toolwright_context_chunks (item_id, position, start_char, chars, start_line, words)
       VALUES (?1, ?2, ?3, ?4, ?5, ${words})`,
      itemId,
      position,
      chunk.startChar,
      chunk.chars,
      chunk.startLine,
      toWordColumn(index, chunk.words),
    );
  }
  yield* indexNewChunks(index);
}

const ITEM = ITEMS.pick("version", "source", "content");
const READ_ITEM = `SELECT ${ITEM.list()} FROM toolwright_context_items WHERE drive = ?1 AND path = ?2`;

export type Item = RowOf<(typeof ITEM)["map"]>;

export function* readItem(drive: string, path: string): Transaction<Item | undefined> {
  const row = yield* first(READ_ITEM, drive, path);
  return row && ITEM.parse(row);
}

const LISTED = ITEMS.pick("path", "bytes");
const LIST = `SELECT ${LISTED.list()} FROM toolwright_context_items WHERE drive = ?1 AND path >= ?2 AND path < ?3
ORDER BY path LIMIT ?4`;

export type ListedItem = RowOf<(typeof LISTED)["map"]>;

/** Items of a drive with `from <= path < to`. */
export function* listItems(
  drive: string,
  from: string,
  to: string,
  limit: number,
): Transaction<ListedItem[]> {
  return (yield* all(LIST, drive, from, to, limit)).map(LISTED.parse);
}

const DRIVE = ITEMS.pick("drive");

export interface Drive extends RowOf<(typeof DRIVE)["map"]> {
  readonly items: number;
}

export function* listDrives(limit: number): Transaction<Drive[]> {
  const rows = yield* all(
    "SELECT drive, COUNT(*) AS items FROM toolwright_context_items GROUP BY drive ORDER BY drive LIMIT ?1",
    limit,
  );
  return rows.map((row) => ({ ...DRIVE.parse(row), items: readInteger(row, "items") }));
}

const SOURCED = columns({
  ...ITEMS.pick("id", "drive", "path", "version").map,
  source: text("source"),
});

export type SourcedItem = RowOf<(typeof SOURCED)["map"]>;

/** Items that can be read again from their source, in pages. */
export function* listSourced(
  location: ItemLocation,
  afterId: number,
  limit: number,
): Transaction<SourcedItem[]> {
  const rows = yield* all(
    `SELECT ${SOURCED.list("i")} FROM toolwright_context_items i
     WHERE i.source IS NOT NULL AND i.id > ?1 AND ${inLocation(3)} ORDER BY i.id LIMIT ?2`,
    afterId,
    limit,
    ...locationParameters(location),
  );
  return rows.map(SOURCED.parse);
}
