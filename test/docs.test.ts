/** What the docs claim about the code, checked against the code. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { ERROR_CODES } from "../src/errors.ts";

const ROOT = resolve(import.meta.dirname, "..");

test("docs/errors.md is the table of codes in src/errors.ts", () => {
  const text = readFileSync(join(ROOT, "docs/errors.md"), "utf8");
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
