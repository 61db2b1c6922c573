/** docs/semantics.md: every rule is there, has tests, and names all of them. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { readRules, renderRules } from "../../scripts/rules.ts";

const PAGE = resolve(import.meta.dirname, "../../docs/semantics.md");
const RULES = 41;
/** Numbers of rules about features that are not there yet. */
const RESERVED = new Set<number>();

test("the rules are numbered without gaps", () => {
  const expected = Array.from({ length: RULES }, (_, n) => n + 1).filter((number) => !RESERVED.has(number));
  expect(readRules().map(({ number }) => number)).toEqual(expected);
});

test("every rule has at least one test that names it", () => {
  const without = readRules().filter(({ tests }) => tests.length === 0);
  expect(without.map(({ number }) => `rule ${number}`)).toEqual([]);
});

test("every rule names its tests; `node scripts/rules.ts` writes the list", () => {
  const page = readFileSync(PAGE, "utf8");
  expect(page).toBe(renderRules(page));
});
