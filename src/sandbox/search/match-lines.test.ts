import { expect, test } from "vitest";
import { parseMatches, sortMatches } from "./match-lines.ts";

const shown = (text: string, isWhole = true): string[] => {
  return sortMatches(parseMatches(Buffer.from(text), isWhole)).map((match) => match.shown);
};

test("lines are ordered by path and then by number", () => {
  expect(shown("b\x0010:x\nb\x009:y\n./a\x003:z\n")).toEqual(["a:3:z", "b:9:y", "b:10:x"]);
});

test("a name may hold colons and line breaks", () => {
  expect(shown("a:1:b\x002:x\nc\nd\x001:y\n")).toEqual(["a:1:b:2:x", "c\nd:1:y"]);
});

test("a torn last line is left out when the search was stopped, and kept when it ended", () => {
  expect(shown("a\x001:x\nb\x001:tor", false)).toEqual(["a:1:x"]);
  expect(shown("a\x001:x\nb\x001:whole", true)).toEqual(["a:1:x", "b:1:whole"]);
});

test("nothing is nothing", () => expect(shown("")).toEqual([]));
