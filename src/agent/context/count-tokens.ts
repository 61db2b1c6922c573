/** Counts the tokens of a message, once for each message. */
import { ByConversation } from "../../model/by-conversation.ts";
import { createMessageSizes } from "../../model/estimate-tokens.ts";
import { type AgentMessage, textOf } from "../../model/messages.ts";
import { remembered } from "../../util/remembered.ts";
import { loadTokenizer } from "./load-tokenizer.ts";

export type CountTokens = (text: string) => number;

/** Tokens of a message besides its text. */
const FRAME = 4;

export type SizeOf = (message: AgentMessage) => number;

export interface MessageCounter {
  readonly sizeOf: SizeOf;
  /** The sizes of all messages in order. */
  readonly sizesOf: (messages: readonly AgentMessage[]) => readonly number[];
}

/** Uses the counter of the user, an installed tokenizer for the model, or an estimate. */
export async function createMessageCounter(
  given: CountTokens | undefined,
  modelId: string,
): Promise<MessageCounter> {
  const sizeOf = await createCounter(given, modelId);
  return { sizeOf, sizesOf: sizesInTurn(sizeOf) };
}

interface Measured {
  readonly messages: readonly AgentMessage[];
  readonly sizes: readonly number[];
}

/**
 * An invoke repeats the messages of the one before it, and a few more. To compare two lists costs a small part of looking up
 * each message, and messages are frozen.
 */
function sizesInTurn(sizeOf: SizeOf): MessageCounter["sizesOf"] {
  const measured = new ByConversation<Measured>();
  return (messages) => {
    const last = measured.take(messages) ?? NOTHING;
    const most = Math.min(last.messages.length, messages.length);
    let known = 0;
    while (known < most && last.messages[known] === messages[known]) known += 1;
    const sizes = last.sizes.slice(0, known);
    for (let index = known; index < messages.length; index += 1)
      sizes.push(sizeOf(messages[index] as AgentMessage));
    measured.keep(messages, (kept) => ({ messages: kept, sizes: sizes.slice(0, kept.length) }));
    return sizes;
  };
}

const NOTHING: Measured = { messages: [], sizes: [] };

async function createCounter(given: CountTokens | undefined, modelId: string): Promise<SizeOf> {
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
