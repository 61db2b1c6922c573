/**
 * The rules of docs/semantics.md and the tests that verify them. A test belongs to a rule by its name:
 * "rule 13: …".
 * `node scripts/rules.ts` writes the lists of tests into the page; a test checks that they are up to date.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "..");
const PAGE = join(ROOT, "docs/semantics.md");

export interface Rule {
  readonly number: number;
  /** Test files, relative to the repository. */
  readonly tests: readonly string[];
}

/** The page with the list of tests under each rule, as it should be. */
export function renderRules(page: string): string {
  const withoutLists = page.replaceAll(/\n\nTests: .*(?=\n)/g, "");
  return withoutLists
    .split(/(?=^### )/m)
    .map((section) => {
      const number = numberOf(section);
      if (number === undefined) return section;
      const [text = "", ...rest] = section.split(/\n(?=## )/);
      const list = `Tests: ${testsOf(number)
        .map((file) => `\`${file}\``)
        .join(", ")}`;
      return [`${text.trimEnd()}\n\n${list}\n`, ...rest].join("\n");
    })
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n");
}

export function readRules(): Rule[] {
  const numbers = readFileSync(PAGE, "utf8")
    .split(/(?=^### )/m)
    .flatMap((section) => numberOf(section) ?? []);
  return numbers.map((number) => ({ number, tests: testsOf(number) }));
}

function numberOf(section: string): number | undefined {
  const [, number] = /^### (\d+)\. /.exec(section) ?? [];
  return number === undefined ? undefined : Number(number);
}

let texts: ReadonlyMap<string, string> | undefined;

function testsOf(number: number): string[] {
  texts ??= new Map(
    ["src", "test"].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => /\.test\.tsx?$/.test(name))
        .map((name) => [`${folder}/${name}`, readFileSync(join(ROOT, folder, name), "utf8")] as const),
    ),
  );
  const name = new RegExp(`rules? (\\d+(, | and ))*${number}((, | and )\\d+)*:`);
  return [...texts].flatMap(([file, text]) => (name.test(text) ? [file] : [])).sort();
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(PAGE, renderRules(readFileSync(PAGE, "utf8")));
}
