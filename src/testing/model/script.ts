/** What a scripted model says, turn by turn. Knows no provider's shape: the models beside it translate. */
import { aFullText, oneOf } from "../../definition/option-checks.ts";
import { optionTable, type OptionTable } from "../../definition/option-table.ts";

export interface ScriptedToolCall {
  readonly toolName: string;
  /** Sent as JSON; a text is sent as it is, so that broken JSON can be sent too. */
  readonly input: unknown;
  /** Default: `call-1`, `call-2`, … over the whole script. */
  readonly toolCallId?: string | undefined;
}

export interface ScriptedParts {
  readonly text?: string | undefined;
  readonly toolCalls?: readonly ScriptedToolCall[] | undefined;
}

/** What the model says in one turn: a text, calls, both, or an error that it fails with. */
export type ScriptedAnswer = string | ScriptedParts | readonly ScriptedToolCall[] | Error;

export interface ScriptedRequest {
  /** From 0: which request this is. */
  readonly index: number;
  readonly mode: "generate" | "stream";
  /** The messages as the provider gets them. */
  readonly prompt: readonly ScriptedMessage[];
  /** How many answers the conversation holds so far. Unlike `index`, the same after a restart. */
  readonly turn: number;
  /** What the user said last. */
  readonly text: string;
  /** What came of the calls of the last answer, in order. */
  readonly toolResults: readonly ScriptedToolResult[];
  readonly toolNames: readonly string[];
  readonly signal: AbortSignal | undefined;
}

export interface ScriptedToolResult {
  readonly toolName: string;
  /** The text or the JSON value that the provider gets. */
  readonly output: unknown;
}

export interface ScriptedMessage {
  readonly role: string;
  readonly content: unknown;
}

/** One turn: the answer, or a function that makes it from the request. */
export type ScriptedTurn =
  | ScriptedAnswer
  | ((request: ScriptedRequest) => ScriptedAnswer | PromiseLike<ScriptedAnswer>);

export interface ScriptedModelOptions {
  readonly modelId?: string | undefined;
  /** What happens when the script is used up. Default `"fail"`. */
  readonly atEnd?: "fail" | "repeat-last" | undefined;
}

const atEnd = oneOf("fail", "repeat-last");

export const SCRIPTED_MODEL_OPTIONS: OptionTable = optionTable<ScriptedModelOptions>("createScriptedModel", {
  modelId: aFullText,
  atEnd,
});

export const SCRIPTED_ANTHROPIC_OPTIONS: OptionTable = optionTable<Pick<ScriptedModelOptions, "atEnd">>(
  "createScriptedAnthropic",
  { atEnd },
);

/** An answer with nothing left open. */
export interface SpokenTurn {
  readonly text: string | undefined;
  readonly toolCalls: readonly {
    readonly toolCallId: string;
    readonly toolName: string;
    readonly inputJson: string;
  }[];
}

export interface ScriptPlayer {
  readonly requests: readonly ScriptedRequest[];
  answer(request: Omit<ScriptedRequest, "index">): Promise<SpokenTurn>;
}

export function playScript(script: readonly ScriptedTurn[], options: ScriptedModelOptions): ScriptPlayer {
  const requests: ScriptedRequest[] = [];
  const speak = createSpeaker();
  return {
    requests,
    async answer(asked) {
      asked.signal?.throwIfAborted();
      const request = { ...asked, index: requests.length };
      requests.push(request);
      const turn = turnAt(script, request.index, options);
      const said = typeof turn === "function" ? await turn(request) : turn;
      if (said instanceof Error) throw said;
      return speak(said);
    },
  };
}

/** Leaves nothing open in an answer. Calls without an id are numbered over the whole script. */
export function createSpeaker(): (said: Exclude<ScriptedAnswer, Error>) => SpokenTurn {
  let calls = 0;
  return (said) => {
    const { text, toolCalls = [] } = partsOf(said);
    return {
      text,
      toolCalls: toolCalls.map(({ toolCallId, toolName, input }) => ({
        toolCallId: toolCallId ?? `call-${(calls += 1)}`,
        toolName,
        inputJson: typeof input === "string" ? input : JSON.stringify(input),
      })),
    };
  };
}

export function turnAt<Turn>(
  script: readonly Turn[],
  index: number,
  { atEnd }: Pick<ScriptedModelOptions, "atEnd">,
): Turn {
  const turn = script[index] ?? (atEnd === "repeat-last" ? script.at(-1) : undefined);
  if (turn !== undefined) return turn;
  throw new Error(
    `The scripted model was asked ${index + 1} times, but its script has ${script.length} turns. Add a turn, or say atEnd: "repeat-last".`,
  );
}

function partsOf(said: Exclude<ScriptedAnswer, Error>): ScriptedParts {
  if (typeof said === "string") return { text: said };
  return isCalls(said) ? { toolCalls: said } : said;
}

function isCalls(said: ScriptedParts | readonly ScriptedToolCall[]): said is readonly ScriptedToolCall[] {
  return Array.isArray(said);
}
