/**
 * Drops the oldest messages so that a request fits the context. It keeps the first messages, then whole rounds (an
 * answer with the messages after it), so that every call keeps its result. The last round always stays; if it is too
 * large, its tool results are truncated.
 */
import type { MessageParam, ToolResultBlockParam } from "@anthropic-ai/sdk/resources/messages";
import { shortenErrorText } from "../../tool/shorten-error-text.ts";
import { bytesOfTokens, createMessageSizes } from "../../model/estimate-tokens.ts";

/** Trims well below the limit, so that the next requests share a prefix, which providers cache. */
const TARGET_SHARE = 0.75;

export interface Trimmer {
  /**
   * The messages to send.
   * @param room the estimated number of tokens available for them
   */
  fit(messages: readonly MessageParam[], room: number): MessageParam[];
}

/** Dropped rounds stay dropped. Trimming is deterministic: a replay of the same history drops the same rounds. */
export function createTrimmer(onTrimmed: (dropped: number, left: number) => void): Trimmer {
  const sizeOf = createMessageSizes();
  let dropped = 0;
  return {
    fit(messages, room) {
      const { head, rounds } = split(messages);
      const sizes = rounds.map((round) => sum(round.map(sizeOf)));
      let size = sum(head.map(sizeOf)) + sum(sizes.slice(dropped));
      const before = dropped;
      if (size > room) {
        for (; dropped < rounds.length - 1 && size > room * TARGET_SHARE; dropped += 1)
          size -= sizes[dropped] ?? 0;
      }
      const rest = rounds.slice(dropped).flat();
      if (dropped > before) onTrimmed(rounds.slice(before, dropped).flat().length, head.length + rest.length);
      const all = [...head, ...rest];
      return size > room ? cutResults(all, size - room) : all;
    },
  };
}

/** A round starts with the first answer after a user message. */
function split(messages: readonly MessageParam[]): { head: MessageParam[]; rounds: MessageParam[][] } {
  const rounds: MessageParam[][] = [];
  const head: MessageParam[] = [];
  let isAnswered = false;
  for (const message of messages) {
    const isAnswer = message.role === "assistant";
    if (isAnswer && !isAnswered) rounds.push([]);
    isAnswered = isAnswer;
    (rounds.at(-1) ?? head).push(message);
  }
  return { head, rounds };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Shorter results are never truncated. */
const MIN_LENGTH = 1_000;

/**
 * Truncates the largest tool results, with a mark. Nothing else in a message changes.
 * @param tokens the estimated number to remove
 */
export function cutResults(messages: readonly MessageParam[], tokens: number): MessageParam[] {
  const longest = limitFor(textsIn(messages), bytesOfTokens(tokens));
  return messages.map((message) => {
    if (message.role !== "user" || typeof message.content === "string") return message;
    return {
      ...message,
      content: message.content.map((block) => (block.type === "tool_result" ? cut(block, longest) : block)),
    };
  });
}

/** The length to which all longer texts are truncated to remove the given number of characters. */
function limitFor(texts: readonly string[], excess: number): number {
  const lengths = texts.map(({ length }) => length).sort((one, other) => other - one);
  let saved = 0;
  for (const [index, length] of lengths.entries()) {
    const next = Math.max(lengths[index + 1] ?? 0, MIN_LENGTH);
    const count = index + 1;
    if (length <= MIN_LENGTH) return MIN_LENGTH;
    if (saved + (length - next) * count >= excess) {
      return Math.max(MIN_LENGTH, Math.floor(length - (excess - saved) / count));
    }
    saved += (length - next) * count;
  }
  return MIN_LENGTH;
}

function textsIn(messages: readonly MessageParam[]): string[] {
  return messages.flatMap(({ content }) =>
    typeof content === "string"
      ? []
      : content.flatMap((block) =>
          block.type === "tool_result" && typeof block.content === "string" ? [block.content] : [],
        ),
  );
}

function cut(block: ToolResultBlockParam, longest: number): ToolResultBlockParam {
  const { content } = block;
  if (typeof content !== "string" || content.length <= longest) return block;
  const leftOut = (shown: number, total: number): string =>
    `[${total - shown} of ${total} characters are left out here to fit the context]`;
  const error = block.is_error === true ? shortenErrorText(content, longest, leftOut) : undefined;
  if (error !== undefined) return { ...block, content: error };
  const mark = `\n${leftOut(longest, content.length)}`;
  return { ...block, content: `${content.slice(0, longest).toWellFormed()}${mark}` };
}
