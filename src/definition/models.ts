/** The models that tools of our own ask: no more of them than is needed, so that the packages that make them are not. */
import { aFullText, aFunction, anObject, type Check, either } from "./option-checks.ts";

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

export const aLanguageModel: Check = either(
  "an AI SDK language model, its name, or an object with invoke()",
  aFullText,
  withMethod("doGenerate"),
  withMethod("invoke"),
);

export const anEmbeddingModel: Check = either("an AI SDK embedding model", (value, field) => {
  withMethod("doEmbed")(value, field);
  aFullText((value as Record<string, unknown>)["modelId"], field);
});

function withMethod(name: string): Check {
  return (value, field) => {
    anObject(value, field);
    aFunction((value as Record<string, unknown>)[name], field);
  };
}
