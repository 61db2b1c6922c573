/**
 * Finds many patterns in one sequence in linear time (Aho and Corasick). It must never compare a pattern at each
 * position: a hunk of 8,000 equal lines in a file of such lines would take seconds.
 */
export interface Occurrences {
  /** The start of the last occurrence, or -1. */
  readonly last: number;
  /** The start of the second to last occurrence, or -1. */
  readonly previous: number;
}

/** Two occurrences are enough: a pattern is unique after a line if only its last occurrence is there. */
export function lastOccurrences(
  sequence: Iterable<number>,
  patterns: readonly (readonly number[])[],
): Occurrences[] {
  const trie = buildTrie(patterns);
  // Ends of matches, by state.
  const last = new Int32Array(trie.size).fill(-1);
  const previous = new Int32Array(trie.size).fill(-1);
  let state = ROOT;
  let position = 0;
  for (const symbol of sequence) {
    position += 1;
    state = trie.step(state, symbol);
    previous[state] = last[state] ?? -1;
    last[state] = position;
  }
  // A match that ends in a state also ends in its suffix states. In this order, children come before their suffixes.
  for (const from of trie.order.toReversed()) {
    const to = trie.suffix[from] ?? ROOT;
    const ends = [last[from] ?? -1, previous[from] ?? -1, last[to] ?? -1, previous[to] ?? -1].sort(
      (a, b) => b - a,
    );
    last[to] = ends[0] ?? -1;
    previous[to] = ends.find((end) => end < (ends[0] ?? -1)) ?? -1;
  }
  return patterns.map((pattern, index) => {
    const end = trie.ends[index] ?? ROOT;
    const toStart = (position: number): number => (position === -1 ? -1 : position - pattern.length);
    return { last: toStart(last[end] ?? -1), previous: toStart(previous[end] ?? -1) };
  });
}

const ROOT = 0;

interface Trie {
  readonly size: number;
  /** The state in which each pattern ends. */
  readonly ends: readonly number[];
  /** For each state, the longest other state that is a suffix of it. */
  readonly suffix: Int32Array;
  /** All states but the root, the shallow ones first. */
  readonly order: readonly number[];
  step(state: number, symbol: number): number;
}

function buildTrie(patterns: readonly (readonly number[])[]): Trie {
  // One map for all states: most have a single child, and a map for each would use more memory than the text.
  const symbols = 1 + patterns.reduce((most, pattern) => pattern.reduce((a, b) => Math.max(a, b), most), 0);
  const children = new Map<number, number>();
  const parents: number[] = [-1];
  const bySymbol: number[] = [-1];
  const depths: number[] = [0];
  const ends = patterns.map((pattern) => {
    let state = ROOT;
    for (const symbol of pattern) {
      let next = children.get(state * symbols + symbol);
      if (next === undefined) {
        next = parents.length;
        children.set(state * symbols + symbol, next);
        depths.push((depths[state] ?? 0) + 1);
        parents.push(state);
        bySymbol.push(symbol);
      }
      state = next;
    }
    return state;
  });

  const suffix = new Int32Array(parents.length);
  const step = (from: number, symbol: number): number => {
    for (let state = from; ; state = suffix[state] ?? ROOT) {
      const next = symbol < symbols ? children.get(state * symbols + symbol) : undefined;
      if (next !== undefined) return next;
      if (state === ROOT) return ROOT;
    }
  };
  const order = byDepth(depths);
  for (const state of order) {
    const parent = parents[state] ?? ROOT;
    suffix[state] = parent === ROOT ? ROOT : step(suffix[parent] ?? ROOT, bySymbol[state] ?? 0);
  }
  return { size: parents.length, ends, suffix, order, step };
}

function byDepth(depths: readonly number[]): number[] {
  const levels: number[][] = [];
  for (const [state, depth] of depths.entries()) {
    if (depth > 0) (levels[depth - 1] ??= []).push(state);
  }
  return levels.flat();
}
