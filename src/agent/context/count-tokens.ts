/** Counts the tokens of a message, once for each message. */
import { createMessageSizes } from "../../model/estimate-tokens.ts";
import { type AgentMessage, textOf } from "../../model/messages.ts";
import { remembered } from "../../util/remembered.ts";
import { loadTokenizer } from "./load-tokenizer.ts";

export type CountTokens = (text: string) => number;

/** Tokens of a message besides its text. */
const FRAME = 4;

/** Uses the counter of the user, an installed tokenizer for the model, or an estimate. */
export async function createMessageCounter(
  given: CountTokens | undefined,
  modelId: string,
): Promise<(message: AgentMessage) => number> {
  const countTokens = given ?? (await loadTokenizer(modelId));
  const estimate = createMessageSizes();
  if (countTokens === undefined) return estimate;
  const counts = new WeakMap<AgentMessage, number>();
  return (message) => remembered(counts, message, () => countWith(countTokens, message) ?? estimate(message));
}

/** `undefined` for content that is not only text, and for a counter that throws or returns no number. */
function countWith(countTokens: CountTokens, message: AgentMessage): number | undefined {
  if (typeof message.content !== "string" && message.content.some(({ type }) => type !== "text"))
    return undefined;
  const calls = (message.tool_calls ?? []).map(
    ({ function: { name, arguments: text } }) => `${name} ${text}`,
  );
  try {
    const count = countTokens([textOf(message), ...calls].join("\n"));
    return Number.isFinite(count) && count >= 0 ? count + FRAME : undefined;
  } catch {
    return undefined;
  }
}
