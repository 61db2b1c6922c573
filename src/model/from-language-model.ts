/** AI SDK models, called without the `ai` package. Reasoning and other provider data is kept unchanged. */
import { isLanguageModel, type LanguageModelLike } from "./sdk-model.ts";
import type { AgentModel, AskOptions, ModelAnswer, ModelUsage } from "./agent-model.ts";
import { callIds, countOf } from "./agent-model.ts";
import { collectStream } from "./collect-sdk-stream.ts";
import { createPromptMaker, SDK_KIND } from "./to-sdk-prompt.ts";

type Part = Readonly<Record<string, unknown>>;

/** `undefined` for a value that is not an AI SDK model. */
export function fromLanguageModel(value: unknown): AgentModel | undefined {
  if (!isLanguageModel(value)) return undefined;
  const model = value as LanguageModelLike<object>;
  const toPrompt = createPromptMaker();
  return {
    id: model.modelId ?? "unknown",
    provider: model.provider,
    isStructured: true,
    async ask(options) {
      const request = toRequest(options, toPrompt(options.messages));
      const result =
        options.onPart === undefined
          ? await model.doGenerate(request)
          : await collectStream((await model.doStream(request)).stream, options.onPart);
      return toAnswer(result as Part | undefined | null);
    },
  };
}

function toRequest(options: AskOptions, prompt: readonly object[]): object {
  const { system, tools, mustCall, outputSchema, signal } = options;
  return {
    prompt: system === "" ? prompt : [{ role: "system", content: system }, ...prompt],
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map((tool) => ({ type: "function", ...tool })),
          toolChoice: { type: mustCall ? "required" : "auto" },
        }),
    ...(outputSchema === undefined ? {} : { responseFormat: { type: "json", schema: outputSchema } }),
    ...(signal === undefined ? {} : { abortSignal: signal }),
  };
}

function toAnswer(result: Part | undefined | null): ModelAnswer {
  const content: unknown = result?.["content"];
  if (!Array.isArray(content) || !content.every((part) => typeof part === "object" && part !== null)) {
    throw new Error("The model answered with something that is not a list of content.");
  }
  const parts = content as Part[];
  const ours = parts.filter((part) => part["type"] === "tool-call" && part["providerExecuted"] !== true);
  const made = callIds(ours.map((part) => part["toolCallId"]));
  const ids = new Map(ours.map((part, index) => [part, made[index]]));
  return {
    text: parts.map((part) => (part["type"] === "text" ? String(part["text"]) : "")).join(""),
    calls: ours.map((part) => ({
      id: ids.get(part) ?? "",
      name: String(part["toolName"]),
      arguments: argumentsOf(part["input"]),
    })),
    finish: finishOf(result?.["finishReason"]),
    usage: sdkUsage(result?.["usage"]),
    provider: { kind: SDK_KIND, content: parts.flatMap((part) => keptPart(part, ids.get(part))) },
  };
}

function argumentsOf(input: unknown): string {
  if (typeof input !== "string") return JSON.stringify(input ?? {});
  return input.trim() === "" ? "{}" : input;
}

/** The parts to send back to the provider. Inputs of calls are left to the message, where they are redacted. */
function keptPart(part: Part, id: string | undefined): object[] {
  const { type } = part;
  if (type === "source" || type === "tool-approval-request") return [];
  if (id !== undefined) {
    const { providerMetadata } = part;
    return [{ type, toolCallId: id, ...(providerMetadata === undefined ? {} : { providerMetadata }) }];
  }
  if (type === "tool-call") return [{ ...part, input: JSON.parse(argumentsOf(part["input"])) as unknown }];
  if (type === "tool-result") {
    const { result, isError, preliminary: _preliminary, ...rest } = part;
    return [{ ...rest, output: { type: isError === true ? "error-json" : "json", value: result } }];
  }
  return [jsonOf(part)];
}

/** Bytes as base64, which the AI SDK accepts too: a state is JSON. */
function jsonOf(part: Part): object {
  const entries = Object.entries(part).map(([name, value]): [string, unknown] => {
    if (value instanceof Uint8Array) return [name, Buffer.from(value).toString("base64")];
    if (value instanceof URL) return [name, value.href];
    const isInner = typeof value === "object" && value !== null && !Array.isArray(value);
    return [name, isInner ? jsonOf(value as Part) : value];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function finishOf(reason: unknown): ModelAnswer["finish"] {
  const unified: unknown =
    typeof reason === "object" && reason !== null && "unified" in reason ? reason.unified : reason;
  if (unified === "length" || unified === "interrupted") return "cut";
  return unified === "content-filter" ? "refused" : "done";
}

/** The usage that an AI SDK model reports. */
export function sdkUsage(usage: unknown): ModelUsage {
  const { inputTokens, outputTokens, cachedInputTokens } = (usage ?? {}) as Part;
  return {
    inputTokens: totalOf(inputTokens, "total"),
    outputTokens: totalOf(outputTokens, "total"),
    cachedInputTokens: totalOf(inputTokens, "cacheRead") ?? countOf(cachedInputTokens),
  };
}

/** Older models report plain numbers. */
function totalOf(tokens: unknown, name: string): number | undefined {
  if (typeof tokens === "object" && tokens !== null) return countOf((tokens as Part)[name]);
  return name === "total" ? countOf(tokens) : undefined;
}
