/** Context items: one row each, with its chunks, changed together. */
import { integer, text, textOrNull } from "../tables/columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { inPlace, type Place, placeParameters } from "./place.ts";
import { forgetChunks, indexNewChunks, toWordColumn, type WordIndex } from "./word-index.ts";

export interface Chunk {
  readonly startChar: number;
  readonly chars: number;
  readonly startLine: number;
  readonly words: readonly string[];
}

export interface ItemWrite {
  readonly drive: string;
  readonly path: string;
  readonly content: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly source: string | null;
  readonly chunks: readonly Chunk[];
  /** What to do where there is one: replace it, only if it has this version, or nothing. */
  readonly replace: boolean | number;
  /** The call that writes, so that it does so once. */
  readonly key: string | undefined;
  readonly nowMs: number;
}

export type WriteResult =
  | {
      readonly kind: "written";
      readonly version: number;
      readonly created: boolean;
      readonly changed: boolean;
    }
  | { readonly kind: "conflict"; readonly version: number };

export function* writeItem(index: WordIndex, item: ItemWrite): Transaction<WriteResult> {
  const before = item.key === undefined ? undefined : yield* readWrite(item.key);
  if (before !== undefined) return before;
  const result = yield* putItem(index, item);
  if (result.kind === "written" && item.key !== undefined) {
    yield* change(
      "INSERT INTO toolwright_context_writes VALUES (?1, ?2, ?3, ?4)",
      item.key,
      result.version,
      Number(result.created),
      Number(result.changed),
    );
  }
  return result;
}

function* readWrite(key: string): Transaction<WriteResult | undefined> {
  const row = yield* first(
    "SELECT version, created, changed FROM toolwright_context_writes WHERE key = ?1",
    key,
  );
  return (
    row && {
      kind: "written",
      version: integer(row, "version"),
      created: integer(row, "created") === 1,
      changed: integer(row, "changed") === 1,
    }
  );
}

function* putItem(index: WordIndex, item: ItemWrite): Transaction<WriteResult> {
  const created = yield* first(
    `INSERT INTO toolwright_context_items
       (drive, path, version, bytes, sha256, source, created_at_ms, updated_at_ms, content)
     VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, ?6, ?7) ON CONFLICT (drive, path) DO NOTHING RETURNING id`,
    item.drive,
    item.path,
    item.bytes,
    item.sha256,
    item.source,
    item.nowMs,
    item.content,
  );
  if (created !== undefined) {
    yield* addChunks(index, integer(created, "id"), item.chunks);
    return { kind: "written", version: 1, created: true, changed: true };
  }
  const row = yield* first(
    "SELECT id, version, sha256, source FROM toolwright_context_items WHERE drive = ?1 AND path = ?2 {update}",
    item.drive,
    item.path,
  );
  if (row === undefined) throw new Error("the item is neither there nor can it be made");
  const version = integer(row, "version");
  const { replace } = item;
  if (replace === false || (typeof replace === "number" && replace !== version)) {
    return { kind: "conflict", version };
  }
  const isSame = text(row, "sha256") === item.sha256;
  if (isSame && textOrNull(row, "source") === item.source) {
    return { kind: "written", version, created: false, changed: false };
  }
  const next = isSame ? version : version + 1;
  const id = integer(row, "id");
  yield* change(
    `UPDATE toolwright_context_items
     SET version = ?2, bytes = ?3, sha256 = ?4, source = ?5, updated_at_ms = ?6, content = ?7 WHERE id = ?1`,
    id,
    next,
    item.bytes,
    item.sha256,
    item.source,
    item.nowMs,
    item.content,
  );
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

export interface Item {
  readonly version: number;
  readonly source: string | null;
  readonly content: string;
}

export function* readItem(drive: string, path: string): Transaction<Item | undefined> {
  const row = yield* first(
    "SELECT version, source, content FROM toolwright_context_items WHERE drive = ?1 AND path = ?2",
    drive,
    path,
  );
  return (
    row && {
      version: integer(row, "version"),
      source: textOrNull(row, "source"),
      content: text(row, "content"),
    }
  );
}

export interface ListedItem {
  readonly path: string;
  readonly bytes: number;
}

/** Items of a drive from one path on, up to another that is left out. */
export function* listItems(
  drive: string,
  from: string,
  to: string,
  limit: number,
): Transaction<ListedItem[]> {
  const rows = yield* all(
    `SELECT path, bytes FROM toolwright_context_items WHERE drive = ?1 AND path >= ?2 AND path < ?3
     ORDER BY path LIMIT ?4`,
    drive,
    from,
    to,
    limit,
  );
  return rows.map((row) => ({ path: text(row, "path"), bytes: integer(row, "bytes") }));
}

export interface Drive {
  readonly drive: string;
  readonly items: number;
}

export function* listDrives(limit: number): Transaction<Drive[]> {
  const rows = yield* all(
    "SELECT drive, COUNT(*) AS items FROM toolwright_context_items GROUP BY drive ORDER BY drive LIMIT ?1",
    limit,
  );
  return rows.map((row) => ({ drive: text(row, "drive"), items: integer(row, "items") }));
}

export interface SourcedItem {
  readonly id: number;
  readonly drive: string;
  readonly path: string;
  readonly version: number;
  readonly source: string;
}

/** Items that can be read again from where they came from, in pages. */
export function* listSourced(place: Place, afterId: number, limit: number): Transaction<SourcedItem[]> {
  const rows = yield* all(
    `SELECT i.id, i.drive, i.path, i.version, i.source FROM toolwright_context_items i
     WHERE i.source IS NOT NULL AND i.id > ?1 AND ${inPlace(3)} ORDER BY i.id LIMIT ?2`,
    afterId,
    limit,
    ...placeParameters(place),
  );
  return rows.map((row) => ({
    id: integer(row, "id"),
    drive: text(row, "drive"),
    path: text(row, "path"),
    version: integer(row, "version"),
    source: text(row, "source"),
  }));
}
