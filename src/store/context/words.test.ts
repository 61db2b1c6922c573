/** Words of texts and of queries, the same on every store. */
import { expect, test } from "vitest";
import { matchesWord, placedWords, queryWords, wordsOf } from "./words.ts";

test.each<[string, string, string[]]>([
  ["case and accents are folded", "Café ÜBER", ["cafe", "uber"]],
  ["an accent may be its own character", "cafe\u0301", ["cafe"]],
  ["syntax of a query is not a word", 'a* OR "b" NEAR(c)', ["a", "or", "b", "near", "c"]],
  ["Han characters are separate words", "東京 2025", ["東", "京", "2025"]],
  ["compatibility forms are folded", "ﬁle", ["file"]],
  ["punctuation has no words", "… — !", []],
])("%s", (_name, text, words) => {
  expect(wordsOf(text)).toEqual(words);
});

test("a very long word is cut, and stays well formed", () => {
  const [word = ""] = wordsOf("a".repeat(63) + "𝒳𐐷".repeat(10));
  expect([word.length <= 64, word.isWellFormed()]).toEqual([true, true]);
});

test("the offset points into the original text", () => {
  expect([...placedWords("é ab")]).toEqual([
    { word: "e", index: 0 },
    { word: "ab", index: 2 },
  ]);
});

test("a query has at most sixteen distinct words, and long ones match as prefixes", () => {
  expect(queryWords("to to report")).toEqual([
    { word: "to", isPrefix: false },
    { word: "report", isPrefix: true },
  ]);
  expect(queryWords(Array.from({ length: 40 }, (_, index) => `w${index}`).join(" "))).toHaveLength(16);
  expect(matchesWord({ word: "rep", isPrefix: true }, "report")).toBe(true);
  expect(matchesWord({ word: "to", isPrefix: false }, "tomorrow")).toBe(false);
});
