/** Vectors of chunks, one for each, by the model that made them. */
import { integer, text } from "../tables/columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { inPlace, type Place, placeParameters } from "./place.ts";
import { BODY, type Hit, toHit } from "./search.ts";

export interface ChunkBody {
  readonly chunkId: number;
  readonly path: string;
  readonly body: string;
}

const NOT_EMBEDDED = `FROM toolwright_context_chunks p JOIN toolwright_context_items i ON i.id = p.item_id
  LEFT JOIN toolwright_context_embeddings e ON e.chunk_id = p.id AND e.model = ?1
  WHERE e.chunk_id IS NULL`;

/** Chunks that this model has not seen as they are now, in pages. */
export function* listNotEmbedded(
  model: string,
  place: Place,
  afterId: number,
  limit: number,
): Transaction<ChunkBody[]> {
  const rows = yield* all(
    `SELECT p.id, i.path, ${BODY} ${NOT_EMBEDDED} AND p.id > ?2 AND ${inPlace(4)} ORDER BY p.id LIMIT ?3`,
    model,
    afterId,
    limit,
    ...placeParameters(place),
  );
  return rows.map((row) => ({
    chunkId: integer(row, "id"),
    path: text(row, "path"),
    body: text(row, "body"),
  }));
}

export function* countNotEmbedded(model: string, place: Place): Transaction<number> {
  const row = yield* first(
    `SELECT COUNT(DISTINCT i.id) AS items ${NOT_EMBEDDED} AND ${inPlace(2)}`,
    model,
    ...placeParameters(place),
  );
  return row === undefined ? 0 : integer(row, "items");
}

export interface Embedding {
  readonly model: string;
  readonly dimensions: number;
  readonly vector: string;
}

/** 0 where the chunk is gone: its item was changed meanwhile. */
export function saveEmbedding(chunkId: number, embedding: Embedding): Transaction<number> {
  return change(
    `INSERT INTO toolwright_context_embeddings (chunk_id, model, dimensions, vector)
     SELECT id, ?2, CAST(?3 AS BIGINT), ?4 FROM toolwright_context_chunks WHERE id = ?1 {share}
     ON CONFLICT (chunk_id) DO UPDATE SET model = excluded.model, dimensions = excluded.dimensions,
       vector = excluded.vector`,
    chunkId,
    embedding.model,
    embedding.dimensions,
    embedding.vector,
  );
}

export interface PlacedVector {
  readonly chunkId: number;
  readonly itemId: number;
  readonly vector: string;
}

/** The vectors of a place, in pages. */
export function* listVectors(
  model: string,
  dimensions: number,
  place: Place,
  afterId: number,
  limit: number,
): Transaction<PlacedVector[]> {
  const rows = yield* all(
    `SELECT e.chunk_id, p.item_id, e.vector FROM toolwright_context_embeddings e
     JOIN toolwright_context_chunks p ON p.id = e.chunk_id JOIN toolwright_context_items i ON i.id = p.item_id
     WHERE e.chunk_id > ?3 AND e.model = ?1 AND e.dimensions = ?2 AND ${inPlace(5)}
     ORDER BY e.chunk_id LIMIT ?4`,
    model,
    dimensions,
    afterId,
    limit,
    ...placeParameters(place),
  );
  return rows.map((row) => ({
    chunkId: integer(row, "chunk_id"),
    itemId: integer(row, "item_id"),
    vector: text(row, "vector"),
  }));
}

/** `undefined` where it is gone. */
export function* readHit(chunkId: number): Transaction<Hit | undefined> {
  const row = yield* first(
    `SELECT i.drive, i.path, i.version, p.start_line, ${BODY}
     FROM toolwright_context_chunks p JOIN toolwright_context_items i ON i.id = p.item_id WHERE p.id = ?1`,
    chunkId,
  );
  return row && toHit(row);
}
