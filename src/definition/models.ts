/** The models that tools of our own ask: no more of them than is needed, so that the packages that make them are not. */

/** The part of the AI SDK's embedding models that is used, of any of their versions. */
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
