/** Checks claims of the docs against the code. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");

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
