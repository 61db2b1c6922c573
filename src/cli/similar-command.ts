/** Which command a misspelt word was meant to be: one slip of the finger away, or two in a longer word. */
import { distance } from "../definition/option-checks.ts";

export function similarCommand(word: string, names: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  const near = names
    .map((name) => ({ name, slips: distance(lower, name) }))
    .filter(({ name, slips }) => slips <= allowedSlips(lower, name))
    .toSorted((a, b) => a.slips - b.slips);
  return near[0]?.name;
}

function allowedSlips(word: string, name: string): number {
  const shorter = Math.min(word.length, name.length);
  // Of two letters, half a word would have to be right: only their order may be wrong.
  if (shorter <= 2) return isSwapped(word, name) ? 1 : 0;
  return shorter <= 4 ? 1 : 2;
}

/** Whether two letters that stand side by side are exchanged, and nothing else is. */
function isSwapped(word: string, name: string): boolean {
  for (let at = 1; at < name.length; at += 1) {
    if (word === name.slice(0, at - 1) + name.charAt(at) + name.charAt(at - 1) + name.slice(at + 1))
      return true;
  }
  return false;
}
