/** Finds the command that a misspelt word is closest to: one typo away, or two in a longer word. */
import { distance } from "../definition/option-checks.ts";

export function similarCommand(word: string, names: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  const near = names
    .map((name) => ({ name, typos: distance(lower, name) }))
    .filter(({ name, typos }) => typos <= allowedTypos(lower, name))
    .toSorted((a, b) => a.typos - b.typos);
  return near[0]?.name;
}

function allowedTypos(word: string, name: string): number {
  const shorter = Math.min(word.length, name.length);
  // One of two letters is half of the word, so accept only swapped letters.
  if (shorter <= 2) return isSwapped(word, name) ? 1 : 0;
  return shorter <= 4 ? 1 : 2;
}

/** Whether the words differ only by two swapped neighbours. */
function isSwapped(word: string, name: string): boolean {
  for (let at = 1; at < name.length; at += 1) {
    if (word === name.slice(0, at - 1) + name.charAt(at) + name.charAt(at - 1) + name.slice(at + 1))
      return true;
  }
  return false;
}
