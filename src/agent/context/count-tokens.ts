/** How many tokens a message is: by a counter of the user's, or by estimate. Each message is looked at once. */
import { createMessageSizes } from "../../util/estimate-tokens.ts";
import { type AgentMessage, textOf } from "../messages.ts";

/** What a message has beside its text. */
const FRAME = 4;

export async function createMessageCounter(
  countTokens: ((text: string) => number) | undefined,
  _modelId: string,
): Promise<(message: AgentMessage) => number> {
  const estimate = createMessageSizes();
  if (countTokens === undefined) return estimate;
  const counts = new WeakMap<AgentMessage, number>();
  return (message) => {
    const known = counts.get(message) ?? countWith(countTokens, message) ?? estimate(message);
    counts.set(message, known);
    return known;
  };
}

/** `undefined` for what a text is not all of, and for a counter that gives no number. */
function countWith(countTokens: (text: string) => number, message: AgentMessage): number | undefined {
  if (typeof message.content !== "string" && message.content.some(({ type }) => type !== "text"))
    return undefined;
  const calls = (message.tool_calls ?? []).map(
    ({ function: { name, arguments: text } }) => `${name} ${text}`,
  );
  const count = countTokens([textOf(message), ...calls].join("\n"));
  return Number.isFinite(count) && count >= 0 ? count + FRAME : undefined;
}
