/** Finds items by words, and by meaning if the runtime has an embedding model. */
import type { EmbeddingModelLike } from "../../definition/models.ts";
import type { Host } from "../../invoke/host.ts";
import { countNotEmbedded, listVectors, readHit } from "../../store/context/embeddings.ts";
import type { ItemLocation } from "../../store/context/location.ts";
import { type Hit, searchWords } from "../../store/context/search.ts";
import { findWordIndex, hasNewChunks, indexNewChunks } from "../../store/context/word-index.ts";
import { queryWords } from "../../store/context/words.ts";
import { embedTexts, modelName, similarity } from "./embed.ts";
import { cutSnippet } from "./snippet.ts";

export interface FoundItem {
  readonly drive: string;
  readonly path: string;
  /** The offset for `context_read`. */
  readonly line: number;
  readonly snippet: string;
}

export interface Request {
  readonly query: string;
  readonly location: ItemLocation;
  readonly limit: number;
  readonly signal: AbortSignal;
}

export async function findByWords({ store }: Pick<Host, "store">, request: Request): Promise<FoundItem[]> {
  const { query, location, limit } = request;
  const words = queryWords(query);
  const index = await store.read(() => findWordIndex(store.dialect));
  if (await store.read(() => hasNewChunks(index))) {
    await store.transaction(() => indexNewChunks(index), "normal");
  }
  const hits = await store.read(() => searchWords(index, words, location, limit));
  return hits.map((hit) => toFound(hit, query));
}

const PAGE = 500;
/** Every vector is compared, so their number is limited. A drive or a path narrows the search. */
export const MOST_VECTORS = 20_000;

export interface FoundByMeaning {
  readonly items: readonly (FoundItem & { readonly similarity: number })[];
  /** Items whose current text is not embedded yet. */
  readonly notEmbedded: number;
  readonly isComplete: boolean;
}

/** @throws the model's error */
export async function findByMeaning(
  { store }: Pick<Host, "store">,
  model: EmbeddingModelLike,
  { query, location, limit, signal }: Request,
): Promise<FoundByMeaning> {
  const name = modelName(model);
  const [wanted] = await embedTexts(model, [query], signal);
  if (wanted === undefined) throw new Error("it returned no vector");
  const best = new Map<number, { chunkId: number; score: number }>();
  let seen = 0;
  let after = 0;
  let isComplete = false;
  while (!isComplete && seen < MOST_VECTORS) {
    const from = after;
    const vectors = await store.read(() => listVectors(name, wanted.length, location, from, PAGE));
    for (const { itemId, chunkId, vector } of vectors) {
      const score = similarity(wanted, vector);
      if (score > (best.get(itemId)?.score ?? -Infinity)) best.set(itemId, { chunkId, score });
      after = chunkId;
    }
    seen += vectors.length;
    isComplete = vectors.length < PAGE;
    signal.throwIfAborted();
  }
  const nearest = [...best.values()].sort(
    (one, other) => other.score - one.score || one.chunkId - other.chunkId,
  );
  const items: (FoundItem & { similarity: number })[] = [];
  for (const { chunkId, score } of nearest.slice(0, limit)) {
    const hit = await store.read(() => readHit(chunkId));
    if (hit !== undefined) items.push({ ...toFound(hit, query), similarity: Math.round(score * 1e4) / 1e4 });
  }
  return { items, isComplete, notEmbedded: await store.read(() => countNotEmbedded(name, location)) };
}

function toFound({ drive, path, body, startLine }: Hit, query: string): FoundItem {
  const { snippet, linesBefore } = cutSnippet(body, queryWords(query));
  return { drive, path, line: startLine + linesBefore, snippet };
}
