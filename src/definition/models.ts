/** The parts of models that the built-in tools use, so that this package depends on no model library. */

/** The common part of the AI SDK's embedding models, in all versions. */
export interface EmbeddingModelLike {
  readonly provider?: string | undefined;
  readonly modelId: string;
  readonly maxEmbeddingsPerCall?: PromiseLike<number | undefined> | number | undefined;
  doEmbed(options: {
    values: string[];
    abortSignal?: AbortSignal;
  }): PromiseLike<{ readonly embeddings: readonly (readonly number[])[] }>;
}

export interface Models {
  /** An AI SDK language model, or anything with `invoke(messages)`. */
  readonly language: unknown;
  readonly embedding: EmbeddingModelLike | undefined;
}
