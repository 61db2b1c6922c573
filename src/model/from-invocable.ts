/**
 * Models with `invoke(messages)`: LangChain chat models, and custom objects. `bindTools` passes the tools; a model without it
 * runs without tools.
 */
import type { AgentMessage } from "./messages.ts";
import {
  type AgentModel,
  type AskOptions,
  callIds,
  countOf,
  type ModelAnswer,
  type ModelUsage,
} from "./agent-model.ts";
import { withInputs, withoutInputs } from "./call-blocks.ts";

type Fields = Readonly<Record<string, unknown>>;

interface Invocable {
  invoke(messages: unknown, options?: object): unknown;
  bindTools?(tools: readonly object[], options?: object): Invocable;
}

export function fromInvocable(value: unknown): AgentModel | undefined {
  if (
    typeof value !== "object" ||
    value === null ||
    !("invoke" in value) ||
    typeof value.invoke !== "function"
  ) {
    return undefined;
  }
  const model = value as Invocable & Fields;
  const bound = new WeakMap<AskOptions["tools"], Invocable>();
  const withTools = ({ tools, mustCall }: AskOptions): Invocable => {
    if (tools.length === 0 || typeof model.bindTools !== "function") return model;
    const known = mustCall ? undefined : bound.get(tools);
    const made = known ?? model.bindTools(tools.map(toFunction), mustCall ? { tool_choice: "required" } : {});
    if (!mustCall) bound.set(tools, made);
    return made;
  };
  return {
    id: nameOf(model),
    isStructured: false,
    async ask(options) {
      const { system, messages, signal } = options;
      const said = system === "" ? messages : [{ role: "system" as const, content: system }, ...messages];
      const answer: unknown = await withTools(options).invoke(
        said.map(toPlain),
        signal === undefined ? {} : { signal },
      );
      return toAnswer(answer);
    },
  };
}

function nameOf(model: Fields): string {
  const name = model["modelName"] ?? model["model"] ?? model["modelId"];
  return typeof name === "string" ? name : "unknown";
}

function toFunction({ name, description, inputSchema }: AskOptions["tools"][number]): object {
  return { type: "function", function: { name, description, parameters: inputSchema } };
}

/** Removes fields that only this package uses. */
function toPlain({
  format: _format,
  is_error: _error,
  executionId: _id,
  provider,
  ...message
}: AgentMessage): object {
  if (provider?.kind !== KIND) return message;
  const { content } = (provider.content[0] ?? {}) as { content?: unknown };
  return Array.isArray(content)
    ? { ...message, content: withInputs(content, message.tool_calls ?? []) }
    : message;
}

const KIND = "invoke";

function toAnswer(answer: unknown): ModelAnswer {
  if (typeof answer === "string")
    return { text: answer, calls: [], finish: "done", usage: usageOf(undefined) };
  if (typeof answer !== "object" || answer === null) {
    throw new Error("The model answered with something that is not a message.");
  }
  const message = answer as Fields;
  const { content, tool_calls: calls, invalid_tool_calls: invalid, additional_kwargs: extra } = message;
  const metadata = (message["response_metadata"] ?? {}) as Fields;
  const listed = [...listOf(calls ?? (extra as Fields | undefined)?.["tool_calls"]), ...listOf(invalid)];
  const ids = callIds(listed.map(({ id }) => id));
  const named = listed.map(({ id }, index) => [id, ids[index] ?? ""] as const);
  const finish = metadata["finish_reason"] ?? metadata["stop_reason"] ?? metadata["finishReason"];
  return {
    text: textIn(content),
    calls: listed.map((call, index) => toCall(call, ids[index] ?? "")),
    finish:
      finish === "length" || finish === "max_tokens"
        ? "cut"
        : finish === "content_filter"
          ? "refused"
          : "done",
    usage: usageOf(
      message["usage_metadata"] ?? message["usage"] ?? metadata["usage"] ?? metadata["tokenUsage"],
    ),
    ...(Array.isArray(content)
      ? { provider: { kind: KIND, content: [{ content: withoutInputs(content, named) }] } }
      : {}),
  };
}

/** LangChain calls have `args`; OpenAI calls have a function with JSON text. */
function toCall(call: Fields, id: string): ModelAnswer["calls"][number] {
  const what = (call["function"] ?? call) as Fields;
  const input = what["arguments"] ?? what["args"] ?? what["input"];
  return {
    id,
    name: String(what["name"]),
    arguments: typeof input === "string" ? input || "{}" : JSON.stringify(input ?? {}),
  };
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value)
    ? value.filter((item): item is Fields => typeof item === "object" && item !== null)
    : [];
}

function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map(({ type, text }) => (type === "text" && typeof text === "string" ? text : ""))
    .join("");
}

function usageOf(usage: unknown): ModelUsage {
  const fields = (usage ?? {}) as Fields;
  const first = (...names: readonly string[]): number | undefined =>
    names.map((name) => countOf(fields[name])).find((count) => count !== undefined);
  const details = (fields["input_token_details"] ?? fields["prompt_tokens_details"] ?? {}) as Fields;
  return {
    inputTokens: first("input_tokens", "prompt_tokens", "inputTokens", "promptTokens"),
    outputTokens: first("output_tokens", "completion_tokens", "outputTokens", "completionTokens"),
    cachedInputTokens: countOf(details["cache_read"]) ?? countOf(details["cached_tokens"]),
  };
}
