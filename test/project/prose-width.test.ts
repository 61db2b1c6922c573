/** Prose in Markdown has at most 140 columns, so that a change of a sentence is a short diff. */
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const WIDEST = 140;
const PAGES = ["*.md", "{docs,examples,skills,templates,packages,.github}/**/*.md"];

/** Lines that are no prose: code, tables, and lists of tests that a script writes. */
function proseOf(text: string): { readonly line: string; readonly number: number }[] {
  let isCode = false;
  return text.split("\n").flatMap((line, index) => {
    if (line.trimStart().startsWith("```")) isCode = !isCode;
    return isCode || line.startsWith("|") || line.startsWith("Tests: ") ? [] : [{ line, number: index + 1 }];
  });
}

test("prose in Markdown has at most 140 columns", () => {
  const pages = globSync(PAGES, { cwd: ROOT }).filter((name) => !/node_modules|dist\//.test(name));
  expect(pages.length).toBeGreaterThan(50);
  const found = pages.flatMap((name) =>
    proseOf(readFileSync(resolve(ROOT, name), "utf8"))
      .filter(({ line }) => line.length > WIDEST)
      .map(({ number }) => `${name}:${number}`),
  );
  expect(found).toEqual([]);
});
