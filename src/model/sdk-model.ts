/** The types of AI SDK models that this package uses. It imports nothing from `ai`. */

/** The part of an AI SDK language model that is needed here. */
export interface LanguageModelLike<Request = never> {
  readonly provider?: string | undefined;
  readonly modelId?: string | undefined;
  doGenerate(options: Request): PromiseLike<object>;
  doStream(options: Request): PromiseLike<{ stream: ReadableStream<unknown> }>;
}

export function isLanguageModel(value: unknown): value is LanguageModelLike {
  return (
    typeof value === "object" &&
    value !== null &&
    "doGenerate" in value &&
    typeof value.doGenerate === "function" &&
    "doStream" in value
  );
}

/** The AI SDK accepts the name of a model if a default provider is set. */
export function resolveLanguageModel(model: unknown): unknown {
  if (typeof model !== "string") return model;
  const provider = (globalThis as { AI_SDK_DEFAULT_PROVIDER?: { languageModel?: (id: string) => unknown } })
    .AI_SDK_DEFAULT_PROVIDER;
  return provider?.languageModel?.(model) ?? model;
}
