/** Vectors of texts from the runtime's embedding model. The output of the model is untrusted, so it is checked. */
import type { EmbeddingModelLike } from "../../definition/models.ts";
import type { Host } from "../../invoke/host.ts";
import { messageOf } from "../../invoke/error-record.ts";
import { listNotEmbedded, saveEmbedding } from "../../store/context/embeddings.ts";
import type { ItemLocation } from "../../store/context/location.ts";
import { cleanLine } from "../../terminal/clean-text.ts";
import { toStorableText } from "../../util/storable-text.ts";

const MOST_AT_ONCE = 100;
const MOST_DIMENSIONS = 16_384;

/** Only vectors of the same model can be compared. */
export function modelName(model: EmbeddingModelLike): string {
  return toStorableText(`${model.provider ?? ""}/${model.modelId}`).slice(0, 256);
}

/** Embeds new chunks page by page, and stores each page before the next one. @returns the number of chunks */
export async function embedLocation(
  { store }: Pick<Host, "store">,
  model: EmbeddingModelLike,
  location: ItemLocation,
  signal: AbortSignal | undefined,
): Promise<number> {
  const name = modelName(model);
  let embedded = 0;
  for (let after = 0; ;) {
    const from = after;
    const chunks = await store.read(() => listNotEmbedded(name, location, from, MOST_AT_ONCE));
    const last = chunks.at(-1);
    if (last === undefined) return embedded;
    after = last.chunkId;
    // A model may refuse an empty text.
    const texts = chunks.map(({ path, body }) => (body.trim() === "" ? path : body));
    const vectors = await embedTexts(model, texts, signal);
    embedded += await store.transaction(function* () {
      let saved = 0;
      for (const [index, { chunkId }] of chunks.entries()) {
        const vector = vectors[index];
        if (vector === undefined) continue;
        const { length: dimensions } = vector;
        saved += yield* saveEmbedding(chunkId, { model: name, dimensions, vector: encodeVector(vector) });
      }
      return saved;
    }, "normal");
  }
}

/** Normalized to length 1, so that the dot product is the cosine similarity. */
export async function embedTexts(
  model: EmbeddingModelLike,
  texts: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Float32Array[]> {
  const most = Math.max(1, Math.min((await model.maxEmbeddingsPerCall) ?? MOST_AT_ONCE, MOST_AT_ONCE));
  const vectors: Float32Array[] = [];
  for (let start = 0; start < texts.length; start += most) {
    const values = texts.slice(start, start + most);
    const answer: unknown = await model.doEmbed({
      values,
      ...(signal === undefined ? {} : { abortSignal: signal }),
    });
    const embeddings = (answer as { embeddings?: unknown } | undefined)?.embeddings;
    if (!Array.isArray(embeddings) || embeddings.length !== values.length)
      throw new Error(`it was given ${values.length} texts and did not return as many vectors`);
    vectors.push(...embeddings.map(toUnitVector));
  }
  const [first] = vectors;
  if (vectors.some(({ length }) => length !== first?.length))
    throw new Error("it returned vectors of different lengths");
  return vectors;
}

function toUnitVector(embedding: unknown): Float32Array {
  const isVector =
    Array.isArray(embedding) &&
    embedding.length > 0 &&
    embedding.length <= MOST_DIMENSIONS &&
    embedding.every((value) => Number.isFinite(value));
  if (!isVector) throw new Error("it returned something that is not a vector of numbers");
  const numbers = embedding as number[];
  const length = Math.hypot(...numbers);
  return Float32Array.from(numbers, (value) => (length === 0 ? 0 : value / length));
}

export function encodeVector(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString("base64");
}

export function similarity(vector: Float32Array, encoded: string): number {
  const bytes = Buffer.from(encoded, "base64");
  let sum = 0;
  for (let index = 0; index < vector.length; index += 1) {
    sum += (vector[index] ?? 0) * bytes.readFloatLE(index * 4);
  }
  return sum;
}

/** The reason for a failure of a model or a source, on one line. */
export function reasonOf(error: unknown): string {
  return cleanLine(messageOf(error));
}
