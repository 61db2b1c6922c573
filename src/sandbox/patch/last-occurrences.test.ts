import { describe, expect, it } from "vitest";
import { lastOccurrences } from "./last-occurrences.ts";

function naive(sequence: readonly number[], pattern: readonly number[]): { last: number; previous: number } {
  const starts: number[] = [];
  for (let start = 0; start + pattern.length <= sequence.length; start += 1) {
    if (pattern.every((symbol, offset) => sequence[start + offset] === symbol)) starts.push(start);
  }
  return { last: starts.at(-1) ?? -1, previous: starts.at(-2) ?? -1 };
}

describe("lastOccurrences", () => {
  it("finds the same positions as a plain search, for all short sequences of two symbols", () => {
    const words = (length: number): number[][] =>
      Array.from({ length: 2 ** length }, (_, bits) =>
        Array.from({ length }, (_, at) => ((bits >> at) & 1) + 1),
      );
    const patterns = [1, 2, 3, 4].flatMap(words);
    for (const sequence of [...words(7), ...words(5)]) {
      expect(lastOccurrences(sequence, patterns)).toEqual(
        patterns.map((pattern) => naive(sequence, pattern)),
      );
    }
  });

  it("does not match symbols that no pattern has", () => {
    expect(lastOccurrences([1, 0, 2, 1, 2, 9], [[1, 2], [3]])).toEqual([
      { last: 3, previous: -1 },
      { last: -1, previous: -1 },
    ]);
  });
});
