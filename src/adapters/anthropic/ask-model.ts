/** Requests one response. The client retries by itself; its final error is thrown. */
import type { MessageCreateParamsBase, MessageParam, ToolUnion } from "@anthropic-ai/sdk/resources/messages";
import { dropIncompleteBlocks } from "./drop-incomplete-blocks.ts";
import { collectStream, type Deltas } from "./collect-stream.ts";
import { type ModelResponse, responseOf } from "./model-response.ts";
import { type AgentLoopOptions, DEFAULTS } from "./options.ts";

export interface ModelRequest {
  readonly system: MessageCreateParamsBase["system"];
  readonly messages: readonly MessageParam[];
  readonly tools: readonly ToolUnion[];
  readonly container?: MessageCreateParamsBase["container"];
}

export async function askModel(
  options: AgentLoopOptions,
  { system, messages, tools, container }: ModelRequest,
  signal: AbortSignal | undefined,
  deltas: Deltas,
): Promise<ModelResponse> {
  const { client, model, maxTokens, params, stream = false } = options;
  const body: MessageCreateParamsBase = {
    ...params,
    model,
    max_tokens: maxTokens ?? DEFAULTS.maxTokens,
    ...(system === undefined ? {} : { system }),
    messages: mergeByRole(dropIncompleteBlocks(messages, true)),
    stream,
  };
  if (container !== undefined) body.container = container;
  if (tools.length > 0) body.tools = [...tools];
  const answer = await client.messages.create(body, signal === undefined ? {} : { signal });
  const isStream = typeof answer === "object" && answer !== null && Symbol.asyncIterator in answer;
  return isStream ? collectStream(answer, deltas) : responseOf(answer);
}

/** Merges consecutive messages of the same role, since the API expects roles to alternate. */
function mergeByRole(messages: readonly MessageParam[]): MessageParam[] {
  const merged: MessageParam[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (last === undefined || last.role !== message.role || message.role === "system") merged.push(message);
    else
      merged[merged.length - 1] = { role: message.role, content: [...blocksOf(last), ...blocksOf(message)] };
  }
  return merged;
}

function blocksOf({ content }: MessageParam): Exclude<MessageParam["content"], string> {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}
