/** The script of a model: one response for each turn, independent of the message format of a provider. */
import {
  aFullText,
  anything,
  aText,
  type Check,
  describe,
  fields,
  fieldsWith,
  isOptionsObject,
  listOf,
  oneOf,
  Problem,
} from "../../definition/option-checks.ts";
import { asOptionError, optionTable, type OptionTable } from "../../definition/option-table.ts";

export interface ScriptedToolCall {
  readonly toolName: string;
  /** Sent as JSON; a string is sent unchanged, so that a test can send invalid JSON. */
  readonly input: unknown;
  /** Default: `call-1`, `call-2`, … over the whole script. */
  readonly toolCallId?: string | undefined;
}

export interface ScriptedParts {
  readonly text?: string | undefined;
  readonly toolCalls?: readonly ScriptedToolCall[] | undefined;
}

/** The response of one turn: a text, calls, both, or an error to throw. */
export type ScriptedAnswer = string | ScriptedParts | readonly ScriptedToolCall[] | Error;

export interface ScriptedRequest {
  /** The number of the request, from 0. */
  readonly index: number;
  readonly mode: "generate" | "stream";
  /** The messages as the provider receives them. */
  readonly prompt: readonly ScriptedMessage[];
  /** The number of responses in the conversation. Unlike `index`, it is the same after a restart. */
  readonly turn: number;
  /** The last user message. */
  readonly text: string;
  /** The results of the calls of the last response, in order. */
  readonly toolResults: readonly ScriptedToolResult[];
  readonly toolNames: readonly string[];
  readonly signal: AbortSignal | undefined;
}

export interface ScriptedToolResult {
  readonly toolName: string;
  /** The text or the JSON value that the provider receives. */
  readonly output: unknown;
}

export interface ScriptedMessage {
  readonly role: string;
  readonly content: unknown;
}

/** One turn: the response, or a function that computes it from the request. */
export type ScriptedTurn =
  | ScriptedAnswer
  | ((request: ScriptedRequest) => ScriptedAnswer | PromiseLike<ScriptedAnswer>);

export interface ScriptedModelOptions {
  readonly modelId?: string | undefined;
  /** The behaviour after the end of the script. Default `"fail"`. */
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

// Some providers send empty ids, so a script may too.
const someCalls: Check = listOf(
  fieldsWith(["toolName", "input"], { toolName: aFullText, input: anything, toolCallId: aText }),
);

export const PARTS = { text: aText, toolCalls: someCalls } as const satisfies Record<
  keyof ScriptedParts,
  Check
>;

/** A misspelt field would be missing in the response, and the test would pass or fail for the wrong reason. */
export function anAnswer(parts: Readonly<Record<string, Check>>): Check {
  return (value, field) => {
    if (typeof value === "string" || value instanceof Error) return;
    if (Array.isArray(value)) someCalls(value, field);
    else if (isOptionsObject(value)) fields(parts)(value, field);
    else
      throw new Problem(
        field,
        `must be a string, calls such as [{ toolName, input }], { text, toolCalls } or an Error, not ${describe(value)}.`,
      );
  };
}

/** Functions are checked when they have answered. @throws TOOL_OPTION_INVALID */
export function checkScript({ surface }: OptionTable, script: unknown, answer: Check): void {
  const aTurn: Check = (turn, field) => {
    if (typeof turn !== "function") answer(turn, field);
  };
  asOptionError(surface, () => listOf(aTurn)(script, "script"));
}

/** @throws TOOL_OPTION_INVALID */
export async function answerOf<Request, Answer>(
  { surface }: OptionTable,
  turn: Answer | ((request: Request) => Answer | PromiseLike<Answer>),
  request: Request,
  { index, check }: { readonly index: number; readonly check: Check },
): Promise<Answer> {
  if (typeof turn !== "function") return turn;
  const said = await (turn as (request: Request) => Answer | PromiseLike<Answer>)(request);
  asOptionError(surface, () => check(said, `script[${index}]()`));
  return said;
}

/** A response with all defaults filled in. */
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

/** @param countReplayed how many turns of the script the conversation of the first request already contains */
export function playScript(
  script: readonly ScriptedTurn[],
  options: ScriptedModelOptions,
  countReplayed: (prompt: readonly ScriptedMessage[]) => number,
): ScriptPlayer {
  const check = anAnswer(PARTS);
  checkScript(SCRIPTED_MODEL_OPTIONS, script, check);
  const requests: ScriptedRequest[] = [];
  let replayed = 0;
  const speak = createSpeaker();
  return {
    requests,
    async answer(asked) {
      asked.signal?.throwIfAborted();
      const request = { ...asked, index: requests.length };
      requests.push(request);
      if (request.index === 0) replayed = countReplayed(request.prompt);
      const turn = turnAt(script, replayed + request.index, options);
      const { index } = request;
      const said = await answerOf(SCRIPTED_MODEL_OPTIONS, turn, request, { index, check });
      if (said instanceof Error) throw said;
      return speak(said);
    },
  };
}

/** Fills in the defaults of a response. Calls without an id are numbered over the whole script. */
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
    `The scripted model was called ${index + 1} times, but its script has ${script.length} turns. Add a turn, or set atEnd: "repeat-last".`,
  );
}

export function partsOf(said: Exclude<ScriptedAnswer, Error>): ScriptedParts {
  if (typeof said === "string") return { text: said };
  return isCalls(said) ? { toolCalls: said } : said;
}

function isCalls(said: ScriptedParts | readonly ScriptedToolCall[]): said is readonly ScriptedToolCall[] {
  return Array.isArray(said);
}
