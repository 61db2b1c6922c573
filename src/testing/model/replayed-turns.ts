/**
 * A restarted run replays logged responses without asking the model, so a new scripted model may get its first request in the
 * middle of a loop. Without this, its script would start over there and repeat its calls.
 */
import { isDeepStrictEqual } from "node:util";
import { toolCallsOf } from "./read-prompt.ts";
import { partsOf, type ScriptedMessage, type ScriptedTurn } from "./script.ts";

/** @returns how many turns of the script the messages after the last user message already contain; 0 if they differ from it */
export function countReplayedTurns(
  script: readonly ScriptedTurn[],
  prompt: readonly ScriptedMessage[],
): number {
  const loop = prompt.slice(prompt.findLastIndex(({ role }) => role === "user") + 1);
  const responses = loop.filter(({ role }) => role === "assistant");
  const isReplayed = responses.every((message, index) => isTurn(script[index], message));
  return isReplayed && responses.length < script.length ? responses.length : 0;
}

/** Only calls identify a turn. A text ends a loop, and the result of a function is unknown. */
function isTurn(turn: ScriptedTurn | undefined, message: ScriptedMessage): boolean {
  if (turn === undefined || typeof turn === "function" || turn instanceof Error) return false;
  const { toolCalls = [] } = partsOf(turn);
  const expected = toolCalls.map(({ toolName, input }) => ({ toolName, input }));
  return expected.length > 0 && isDeepStrictEqual(toolCallsOf(message), expected);
}
