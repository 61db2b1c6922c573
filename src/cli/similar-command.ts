/** Finds the command that a misspelt word is closest to: one typo away, or two after the first letter of a longer word. */
import { distance } from "../definition/nearest-name.ts";

/** Words of other programs for our commands. A tool of the project may have such a name, so they are only suggested. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  continue: "resume",
  create: "init",
  dashboard: "serve",
  dev: "up",
  exec: "up",
  history: "calls",
  kill: "cancel",
  list: "ps",
  log: "calls",
  logs: "calls",
  ls: "ps",
  new: "init",
  pending: "approvals",
  reject: "deny",
  run: "up",
  runs: "ps",
  server: "serve",
  show: "inspect",
  start: "up",
  status: "ps",
  stop: "cancel",
  ui: "serve",
  web: "serve",
};

/** The command that a user of other programs means with a word, or with the name of a file. */
export function meantCommand(word: string): readonly string[] | undefined {
  if (/\.[jt]sx?$|\.mjs$/.test(word)) return ["up", word];
  const meant = Object.hasOwn(OTHER_WORDS, word) ? OTHER_WORDS[word] : undefined;
  return meant === undefined ? undefined : [meant];
}

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
  // The first letter is seldom wrong: "order" is a name in itself, not "worker" with two typos.
  return shorter <= 4 || word.charAt(0) !== name.charAt(0) ? 1 : 2;
}

/** Whether the words differ only by two swapped neighbours. */
function isSwapped(word: string, name: string): boolean {
  for (let at = 1; at < name.length; at += 1) {
    if (word === name.slice(0, at - 1) + name.charAt(at) + name.charAt(at - 1) + name.slice(at + 1))
      return true;
  }
  return false;
}
