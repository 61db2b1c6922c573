/** How many tokens a message is. Each message is looked at once. */
import { createMessageSizes } from "../../util/estimate-tokens.ts";
import { type AgentMessage, textOf } from "../../model/messages.ts";
import { loadTokenizer } from "./load-tokenizer.ts";

export type CountTokens = (text: string) => number;

/** What a message has beside its text. */
const FRAME = 4;

/** By the user's counter, by a tokenizer that fits the model where one is installed, or by estimate. */
export async function createMessageCounter(
  given: CountTokens | undefined,
  modelId: string,
): Promise<(message: AgentMessage) => number> {
  const countTokens = given ?? (await loadTokenizer(modelId));
  const estimate = createMessageSizes();
  if (countTokens === undefined) return estimate;
  const counts = new WeakMap<AgentMessage, number>();
  return (message) => {
    const known = counts.get(message) ?? countWith(countTokens, message) ?? estimate(message);
    counts.set(message, known);
    return known;
  };
}

/** `undefined` for what a text is not all of, and for a counter that throws or gives no number. */
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
