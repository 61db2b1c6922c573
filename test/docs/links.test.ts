/** No dead link: in the repository, and in the package as it is installed. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test, vi } from "vitest";
import { readPages, renderPage } from "../../site/content.ts";
import { anchorsOf, linksOf, listPages, readPage, ROOT } from "./pages.ts";

// npm reads every file of the package.
vi.setConfig({ testTimeout: 120_000 });

/** @returns each link whose target or heading is missing */
function deadLinks(pages: readonly string[], exists: (path: string) => boolean): string[] {
  return pages.flatMap((page) =>
    linksOf(readPage(page)).flatMap(({ path, anchor }) => {
      const target = path === "" ? page : normalize(join(dirname(page), path));
      if (!exists(target)) return [`${page}: ${path} is missing`];
      if (anchor === "" || !target.endsWith(".md")) return [];
      return anchorsOf(readPage(target)).has(anchor) ? [] : [`${page}: ${target} has no heading #${anchor}`];
    }),
  );
}

test("every link of a page leads to a file and a heading", () => {
  const pages = listPages();
  expect(pages.length).toBeGreaterThan(50);
  expect(deadLinks(pages, (path) => existsSync(join(ROOT, path)))).toEqual([]);
});

test("docs/README.md links to every page of the docs", () => {
  const linked = new Set(linksOf(readPage("docs/README.md")).map(({ path }) => join("docs", path)));
  const pages = listPages().filter((page) => /^docs\/(?!decisions\/|README)/.test(page));
  expect(pages.filter((page) => !linked.has(page))).toEqual([]);
});

test("every link of a packed page leads to a packed file", () => {
  const packed = packedFiles();
  expect(packed).toContain("README.md");
  expect(packed).toContain("skills/toolwright/SKILL.md");
  const folders = new Set(packed.flatMap((path) => parentsOf(path)));
  const isPacked = (path: string): boolean => packed.includes(path) || folders.has(path.replace(/\/$/, ""));
  expect(
    deadLinks(
      packed.filter((path) => path.endsWith(".md")),
      isPacked,
    ),
  ).toEqual([]);
});

test("every link of a page leads to a page of the site", () => {
  const pages = readPages();
  expect(pages.length).toBeGreaterThan(70);
  for (const page of pages) expect(() => renderPage(page), page.source).not.toThrow();
});

test("every path of this repository that a page names in code exists", () => {
  const missing = listPages()
    .filter((page) => !page.startsWith("docs/decisions/") && page !== "CHANGELOG.md")
    .flatMap((page) =>
      [...readPage(page).matchAll(/`((?:src|test|docs|sql|examples|scripts|bench|skills|site)\/[\w./-]+)`/g)]
        .map(([, path = ""]) => path)
        .filter((path) => !existsSync(join(ROOT, path)))
        .map((path) => `${page}: ${path}`),
    );
  expect(missing).toEqual([]);
});

function packedFiles(): string[] {
  const { stdout, stderr } = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  const report = JSON.parse(stdout === "" ? `{"error":${JSON.stringify(stderr)}}` : stdout) as unknown;
  // Older versions of npm print a list, newer ones an object by package name.
  const [pack] = Object.values(report as Record<string, { readonly files: readonly { path: string }[] }>);
  if (pack?.files === undefined) throw new Error(stdout + stderr);
  return pack.files.map(({ path }) => path);
}

function parentsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === "." ? [] : [parent, ...parentsOf(parent)];
}
