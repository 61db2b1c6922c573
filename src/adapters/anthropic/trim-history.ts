/**
 * Leaves out the oldest messages so that a request fits. What is left is what a model can be sent: the messages that it
 * began with, then whole rounds (an answer with everything that was said to it), so that no result is without its call and
 * no call without its result. The last round always stays; where even that is too large, its results are cut.
 */
import type { MessageParam } from "@anthropic-ai/sdk/resources/messages";
import { cutResults } from "./cut-results.ts";
import { createMessageSizes } from "../../util/estimate-tokens.ts";

/** Cut well below the limit: the next turns then send the same beginning, which providers cache. */
const TARGET_SHARE = 0.75;

export interface Trimmer {
  /**
   * The messages to send.
   * @param room how many tokens they may have, by estimate
   */
  fit(messages: readonly MessageParam[], room: number): MessageParam[];
}

/** Remembers what it left out: that stays out. The same history, message by message, is always trimmed the same way. */
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
      const kept = rounds.slice(dropped).flat();
      if (dropped > before) onTrimmed(rounds.slice(before, dropped).flat().length, head.length + kept.length);
      const all = [...head, ...kept];
      return size > room ? cutResults(all, size - room) : all;
    },
  };
}

/** A round begins with the first answer after something was said. */
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
