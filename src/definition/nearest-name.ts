/** Suggests the name that was meant by a misspelled one: of an option, a field, a workflow or a run. */

/** The rest of a refusal: the nearest name, else all of them. @param title of the list */
export function suggestion(name: string, known: readonly string[], title: string): string {
  const near = otherWord(name, known) ?? nearestName(name, known);
  if (near !== undefined) return ` Did you mean "${near}"?`;
  return ` ${title}: ${known.length === 0 ? "none" : known.join(", ")}.`;
}

/** Words that other libraries use for our options, where no typo leads to ours. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  db: "store",
  dbPath: "store",
  database: "store",
  path: "store",
  storage: "store",
  url: "store",
  cwd: "rootDir",
  workdir: "rootDir",
  network: "allowNetwork",
  sandbox: "isolation",
  id: "runId",
  sessionId: "runId",
  threadId: "runId",
  llm: "model",
  system: "systemPrompt",
  instructions: "systemPrompt",
  abortSignal: "signal",
  args: "input",
};

function otherWord(name: string, known: readonly string[]): string | undefined {
  const own = Object.hasOwn(OTHER_WORDS, name) ? OTHER_WORDS[name] : undefined;
  return own !== undefined && known.includes(own) ? own : undefined;
}

/** The known name that is most similar to a misspelled one. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const near = known
    .map((one) => ({ one, apart: distance(one.toLowerCase(), wanted) }))
    .filter(({ one, apart }) => areAlike(one.toLowerCase(), wanted, apart))
    .toSorted((a, b) => a.apart - b.apart);
  return near[0]?.one;
}

/** One or two typos, or a name that contains the other one, such as `timeoutMs` for `toolTimeoutMs`. */
function areAlike(one: string, other: string, apart: number): boolean {
  const shorter = Math.min(one.length, other.length);
  if (apart <= Math.min(2, Math.ceil(shorter / 3))) return true;
  if (shorter >= 3 && (one.startsWith(other) || other.startsWith(one))) return true;
  return shorter >= 5 && (one.endsWith(other) || other.endsWith(one));
}

/** The edit distance: letters to add, remove, change or swap with their neighbour. */
export function distance(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swap = isSwap ? (before[j - 2] ?? 0) + 1 : Infinity;
      next[j] = Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
    }
    before = row;
    row = next;
  }
  return row[other.length] ?? 0;
}
