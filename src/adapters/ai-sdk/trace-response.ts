/** The telemetry attributes of a request to an AI SDK model, and of its response. */
import type { ChatAbout, ChatAnswer } from "../../invoke/telemetry.ts";
import { sdkUsage } from "../../model/from-language-model.ts";
import type { LanguageModelLike } from "../../model/sdk-model.ts";

type Fields = Readonly<Record<string, unknown>>;

export function aboutRequest(model: LanguageModelLike, request: object, isStreamed: boolean): ChatAbout {
  const { responseFormat, seed, maxOutputTokens, temperature, topK, topP, ...penalties } = request as Fields;
  return {
    model: model.modelId,
    provider: model.provider,
    isStreamed,
    isJson: (responseFormat as Fields | undefined)?.["type"] === "json",
    seed: countIn(seed),
    maxTokens: countIn(maxOutputTokens),
    temperature: countIn(temperature),
    topK: countIn(topK),
    topP: countIn(topP),
    frequencyPenalty: countIn(penalties["frequencyPenalty"]),
    presencePenalty: countIn(penalties["presencePenalty"]),
  };
}

/** @param response a whole response, or the parts of a stream */
export function answerOfResponse(response: unknown): ChatAnswer {
  const parts = Array.isArray(response) ? (response as readonly Fields[]) : undefined;
  const end = (parts?.find(({ type }) => type === "finish") ?? (parts ? {} : response)) as Fields;
  const metadata = parts?.find(({ type }) => type === "response-metadata") ?? (end["response"] as Fields);
  const reason = end["finishReason"];
  const unified = typeof reason === "object" && reason !== null ? (reason as Fields)["unified"] : reason;
  return {
    ...sdkUsage(end["usage"]),
    cacheWriteTokens: detailOf(end["usage"], "inputTokens", "cacheWrite"),
    reasoningTokens: detailOf(end["usage"], "outputTokens", "reasoning"),
    finishReason: textIn(unified),
    model: textIn(metadata?.["modelId"]),
    id: textIn(metadata?.["id"]),
  };
}

/** Older models report plain numbers. */
function detailOf(usage: unknown, total: string, name: string): number | undefined {
  const details = (usage as Fields | undefined)?.[total];
  return typeof details === "object" && details !== null ? countIn((details as Fields)[name]) : undefined;
}

function countIn(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
