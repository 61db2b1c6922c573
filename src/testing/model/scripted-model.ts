/**
 * A model that returns scripted responses, in the AI SDK's shape (LanguageModelV4). It imports nothing from `ai`: it is an
 * optional peer, and only the shape matters.
 */
import { checkOptions } from "../../definition/option-table.ts";
import { readPrompt } from "./read-prompt.ts";
import { countReplayedTurns } from "./replayed-turns.ts";
import {
  playScript,
  SCRIPTED_MODEL_OPTIONS,
  type ScriptedMessage,
  type ScriptedModelOptions,
  type ScriptedRequest,
  type ScriptedTurn,
  type SpokenTurn,
} from "./script.ts";

/** Can be used wherever the AI SDK takes a model. */
export interface ScriptedModel {
  readonly specificationVersion: "v4";
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]>;
  doGenerate(options: ModelCallOptions): Promise<GenerateResult>;
  doStream(options: ModelCallOptions): Promise<{ stream: ReadableStream<StreamPart> }>;
  /** Every request so far, in order. */
  readonly requests: readonly ScriptedRequest[];
}

interface ModelCallOptions {
  readonly prompt: readonly ScriptedMessage[];
  readonly tools?: readonly { readonly name: string }[] | undefined;
  readonly abortSignal?: AbortSignal | undefined;
}

interface ToolCallPart {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: string;
}

interface FinishReason {
  unified: "stop" | "tool-calls";
  raw: undefined;
}

interface GenerateResult {
  content: ({ type: "text"; text: string } | ToolCallPart)[];
  finishReason: FinishReason;
  usage: typeof USAGE;
  warnings: [];
}

type StreamPart =
  | { type: "stream-start"; warnings: [] }
  | { type: "text-start"; id: string }
  | { type: "text-delta"; id: string; delta: string }
  | { type: "text-end"; id: string }
  | { type: "tool-input-start"; id: string; toolName: string }
  | { type: "tool-input-delta"; id: string; delta: string }
  | { type: "tool-input-end"; id: string }
  | ToolCallPart
  | { type: "finish"; usage: typeof USAGE; finishReason: FinishReason };

const USAGE = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};

/**
 * Returns its turns in order of the requests. A model that is first asked in the middle of a loop, because a restarted run has
 * replayed the responses before it, begins after the turns that the conversation already contains.
 *
 * @example
 * const model = createScriptedModel([
 *   [{ toolName: "place_order", input: { sku: "A-1" } }],
 *   (request) => `done after ${request.prompt.length} messages`,
 * ]);
 * await generateText({ model, tools: { place_order: placeOrder }, prompt: "Order A-1", stopWhen: isStepCount(5) });
 * model.requests.length; // 2
 */
export function createScriptedModel(
  script: readonly ScriptedTurn[],
  options: ScriptedModelOptions = {},
): ScriptedModel {
  checkOptions(SCRIPTED_MODEL_OPTIONS, options);
  const player = playScript(script, options, (prompt) => countReplayedTurns(script, prompt));
  const answer = (
    mode: ScriptedRequest["mode"],
    { prompt, tools = [], abortSignal }: ModelCallOptions,
  ): Promise<SpokenTurn> =>
    player.answer({
      mode,
      prompt: [...prompt],
      ...readPrompt(prompt),
      toolNames: tools.map(({ name }) => name),
      signal: abortSignal,
    });
  return {
    specificationVersion: "v4",
    provider: "toolwright-scripted",
    modelId: options.modelId ?? "scripted",
    supportedUrls: {},
    requests: player.requests,
    doGenerate: async (asked) => {
      const turn = await answer("generate", asked);
      const text = turn.text === undefined ? [] : [{ type: "text", text: turn.text } as const];
      return {
        content: [...text, ...callPartsOf(turn)],
        finishReason: finishReasonOf(turn),
        usage: USAGE,
        warnings: [],
      };
    },
    doStream: async (asked) => ({
      stream: ReadableStream.from(streamPartsOf(await answer("stream", asked))),
    }),
  };
}

function callPartsOf({ toolCalls }: SpokenTurn): ToolCallPart[] {
  return toolCalls.map(({ toolCallId, toolName, inputJson }) => ({
    type: "tool-call",
    toolCallId,
    toolName,
    input: inputJson,
  }));
}

function finishReasonOf({ toolCalls }: SpokenTurn): FinishReason {
  return { unified: toolCalls.length > 0 ? "tool-calls" : "stop", raw: undefined };
}

function streamPartsOf(turn: SpokenTurn): StreamPart[] {
  const text: StreamPart[] =
    turn.text === undefined
      ? []
      : [
          { type: "text-start", id: "text-1" },
          { type: "text-delta", id: "text-1", delta: turn.text },
          { type: "text-end", id: "text-1" },
        ];
  const calls = callPartsOf(turn).flatMap((part): StreamPart[] => [
    { type: "tool-input-start", id: part.toolCallId, toolName: part.toolName },
    { type: "tool-input-delta", id: part.toolCallId, delta: part.input },
    { type: "tool-input-end", id: part.toolCallId },
    part,
  ]);
  return [
    { type: "stream-start", warnings: [] },
    ...text,
    ...calls,
    { type: "finish", usage: USAGE, finishReason: finishReasonOf(turn) },
  ];
}
