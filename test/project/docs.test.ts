/** Checks claims of the docs against the code. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { ERROR_CODES } from "../../src/errors.ts";

const ROOT = resolve(import.meta.dirname, "../..");

test("docs/reference/errors.md is the table of codes in src/errors.ts", () => {
  const text = readFileSync(join(ROOT, "docs/reference/errors.md"), "utf8");
  const rows = [...text.matchAll(/^\| `((?:TOOL|WORKFLOW)_\w+)` \| (.*) \| (.*) \|$/gm)].map(
    ([, code, meaning, hint]) => [code, { meaning, hint }],
  );
  expect(Object.fromEntries(rows)).toEqual(ERROR_CODES);
});

test("every relative link in the docs leads to a file", () => {
  const pages = [
    "README.md",
    "AGENTS.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "examples/README.md",
  ].concat(
    readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => join("docs", name)),
  );
  const broken = pages.flatMap((page) => {
    const links = readFileSync(join(ROOT, page), "utf8").matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g);
    return [...links]
      .map(([, link = ""]) => resolve(ROOT, dirname(page), link))
      .filter((target) => !existsSync(target))
      .map((target) => `${page} -> ${target}`);
  });
  expect(broken).toEqual([]);
});

test("the README's code is the example that runs", () => {
  const example = readFileSync(join(ROOT, "examples/quickstart.ts"), "utf8");
  const [, region = ""] = /\/\/ #region readme\n([\s\S]*?)\/\/ #endregion/.exec(example) ?? [];
  const [, block = ""] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, "README.md"), "utf8")) ?? [];
  expect(block.trim()).toBe(region.trim());
});

const AGENTS = readFileSync(join(ROOT, "AGENTS.md"), "utf8");

test("every path that AGENTS.md names exists, and every folder of src is in its tree", () => {
  const named = [...AGENTS.matchAll(/`((?:src|test|docs|sql|examples)\/[\w./-]+)`/g)].map(
    ([, path = ""]) => path,
  );
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  const [, tree = ""] = /\nsrc\/\n([\s\S]*?)```/.exec(AGENTS) ?? [];
  const folders = readdirSync(join(ROOT, "src"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${name}/`);
  const listed = [...tree.matchAll(/^ {2}(\w[\w-]*\/)/gm)].map(([, name = ""]) => name);
  expect(listed.toSorted()).toEqual(folders.toSorted());
});

test("AGENTS.md lists every file with state at module level", () => {
  const [, table = ""] = /## Module-level state\n([\s\S]*?)\n## /.exec(AGENTS) ?? [];
  const rows = table.split("\n").filter((line) => line.startsWith("| `"));
  const listed = rows.flatMap((row) =>
    [...(row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path),
  );
  const state = [
    /^(?:export )?let /m,
    /^(?:export )?const [^=\n]+= new (?:Weak)?(?:Map|Set)(?:<[^\n]*>)?\(\)/m,
    /^(?:export )?const [^=\n]+= (?:\w+\(\s*)?sharedByCopies\(/m,
    /^const \w+: \{ (?!readonly)[^\n]*\} = \{/m,
  ];
  const found = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
    .filter((name) => {
      const text = readFileSync(join(ROOT, "src", name), "utf8");
      return state.some((pattern) => pattern.test(text));
    })
    .map((name) => `src/${name}`);
  expect(listed.toSorted()).toEqual(found.toSorted());
});
