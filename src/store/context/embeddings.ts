/** Embeddings: one vector for each chunk, with the model that computed it. */
import { readInteger, readText } from "../tables/columns.ts";
import { columns, integer, type RowOf, text } from "../tables/table.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { inLocation, type ItemLocation, locationParameters } from "./location.ts";
import { BODY, type Hit, toHit } from "./search.ts";

export interface ChunkBody {
  readonly chunkId: number;
  readonly path: string;
  readonly body: string;
}

const NOT_EMBEDDED = `FROM toolwright_context_chunks p JOIN toolwright_context_items i ON i.id = p.item_id
  LEFT JOIN toolwright_context_embeddings e ON e.chunk_id = p.id AND e.model = ?1
  WHERE e.chunk_id IS NULL`;

/** Chunks without a vector of this model, in pages. */
export function* listNotEmbedded(
  model: string,
  location: ItemLocation,
  afterId: number,
  limit: number,
): Transaction<ChunkBody[]> {
  const rows = yield* all(
    `SELECT p.id, i.path, ${BODY} ${NOT_EMBEDDED} AND p.id > ?2 AND ${inLocation(4)} ORDER BY p.id LIMIT ?3`,
    model,
    afterId,
    limit,
    ...locationParameters(location),
  );
  return rows.map((row) => ({
    chunkId: readInteger(row, "id"),
    path: readText(row, "path"),
    body: readText(row, "body"),
  }));
}

export function* countNotEmbedded(model: string, location: ItemLocation): Transaction<number> {
  const row = yield* first(
    `SELECT COUNT(DISTINCT i.id) AS items ${NOT_EMBEDDED} AND ${inLocation(2)}`,
    model,
    ...locationParameters(location),
  );
  return row === undefined ? 0 : readInteger(row, "items");
}

const EMBEDDING = columns({
  model: text("model"),
  dimensions: integer("dimensions"),
  vector: text("vector"),
});

export type Embedding = RowOf<(typeof EMBEDDING)["map"]>;

const SAVE = `INSERT INTO toolwright_context_embeddings (chunk_id, ${EMBEDDING.list()})
SELECT id, ${EMBEDDING.parameters(2)} FROM toolwright_context_chunks WHERE id = ?1 {share}
ON CONFLICT (chunk_id) DO UPDATE SET ${EMBEDDING.excluded()}`;

/** 0 when the chunk is gone: its item was changed meanwhile. */
export function saveEmbedding(chunkId: number, embedding: Embedding): Transaction<number> {
  return change(SAVE, chunkId, ...EMBEDDING.values(embedding));
}

export interface PlacedVector {
  readonly chunkId: number;
  readonly itemId: number;
  readonly vector: string;
}

/** The vectors below a location, in pages. */
export function* listVectors(
  model: string,
  dimensions: number,
  location: ItemLocation,
  afterId: number,
  limit: number,
): Transaction<PlacedVector[]> {
  const rows = yield* all(
    `SELECT e.chunk_id, p.item_id, e.vector FROM toolwright_context_embeddings e
     JOIN toolwright_context_chunks p ON p.id = e.chunk_id JOIN toolwright_context_items i ON i.id = p.item_id
     WHERE e.chunk_id > ?3 AND e.model = ?1 AND e.dimensions = ?2 AND ${inLocation(5)}
     ORDER BY e.chunk_id LIMIT ?4`,
    model,
    dimensions,
    afterId,
    limit,
    ...locationParameters(location),
  );
  return rows.map((row) => ({
    chunkId: readInteger(row, "chunk_id"),
    itemId: readInteger(row, "item_id"),
    vector: readText(row, "vector"),
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
