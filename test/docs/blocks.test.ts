/**
 * Every code block of the docs is checked: programs are compiled together, in one run of the compiler and against the built
 * package, as users do. A program that is marked `run` also runs, offline. Commands, JSON and SQL are checked too.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { describeCommands } from "../../scripts/commands-page.ts";
import { isTooNew } from "../oldest-node.ts";
import { type Block, blocksOf, listPages, ROOT } from "./pages.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 });

/** Inside the package, so that `toolwright` in a program is the built package, and other packages are found too. */
const FOLDER = join(ROOT, "docs-blocks");
const PROGRAMS = new Set(["ts", "tsx", "js", "jsx"]);
const OTHERS = new Set(["sh", "json", "sql", "text", "md", "yaml"]);

const blocks = listPages()
  .filter((page) => !page.startsWith("docs/decisions/") && page !== "CHANGELOG.md")
  .flatMap((page) => blocksOf(page));
const programs = blocks.filter(({ language }) => PROGRAMS.has(language));

beforeAll(() => {
  rmSync(FOLDER, { recursive: true, force: true });
  for (const block of programs) {
    const path = join(FOLDER, fileOf(block));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${block.text}\nexport {};\n`, { flag: "wx" });
  }
});

afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

/** The blocks of one page share a folder, so that one may import another by the name that its page gives it. */
function fileOf({ page, line, language, words }: Block): string {
  const name = words.find((word) => /\.\w+$/.test(word)) ?? `line-${line}.${language}`;
  return join(page.replace(/\.md$/, ""), name);
}

test("every block has a language that is checked", () => {
  const others = blocks.filter(({ language }) => !PROGRAMS.has(language) && !OTHERS.has(language));
  expect(others.map(({ page, line, language }) => `${page}:${line} ${language}`)).toEqual([]);
});

test("every program of the docs compiles", () => {
  writeFileSync(
    join(FOLDER, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        target: "es2023",
        lib: ["es2024", "esnext.disposable"],
        module: "nodenext",
        types: ["node"],
        jsx: "react-jsx",
        jsxImportSource: "toolwright",
        strict: true,
        noUncheckedIndexedAccess: true,
        verbatimModuleSyntax: true,
        allowImportingTsExtensions: true,
        allowJs: true,
        checkJs: true,
        skipLibCheck: true,
        noEmit: true,
      },
      include: ["."],
    }),
  );
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", FOLDER], {
    cwd: FOLDER,
    encoding: "utf8",
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
});

test("every program of the docs can be parsed by the oldest Node that package.json names", () => {
  const tooNew = programs.filter(({ text, language }) =>
    isTooNew(text, language as "ts" | "tsx" | "js" | "jsx"),
  );
  expect(tooNew.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
});

test("every program that is marked `run` runs to its end, offline", () => {
  const files = programs.filter(({ words }) => words.includes("run")).map((block) => fileOf(block));
  expect(files.length).toBeGreaterThan(15);
  const runner = join(import.meta.dirname, "programs/run-blocks.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [runner, ...files], {
    cwd: FOLDER,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  const failed = /^FAILED .*$/m.exec(stdout)?.[0] ?? "";
  expect({ status, failed, stderr: status === 0 ? "" : stderr }).toEqual({
    status: 0,
    failed: "",
    stderr: "",
  });
  expect(stderr.split("\n").filter((line) => line.startsWith("toolwright: "))).toEqual([]);
});

test("every JSON block is JSON", () => {
  for (const { language, text, page, line } of blocks) {
    if (language === "json") expect(() => JSON.parse(text) as unknown, `${page}:${line}`).not.toThrow();
  }
});

test("every toolwright command in a shell block can be pasted: it starts with npx", () => {
  const bare = blocks
    .filter(({ language, page }) => language === "sh" && page !== "docs/reference/commands.md")
    .flatMap(({ page, line, text }) =>
      /(?<!npx |install )\btoolwright [a-z]/.test(text) ? [`${page}:${line}`] : [],
    );
  expect(bare).toEqual([]);
});

test("every command in a shell block exists, with its options", () => {
  const commands = describeCommands();
  const unknown = blocks
    .filter(({ language }) => language === "sh")
    .flatMap(({ page, line, text }) =>
      [...text.matchAll(/(?:^|[;&|=…] *|npx )toolwright ([a-z-]+)([^\n|#]*)/gm)].flatMap(
        ([, name = "", rest = ""]) => {
          const command = commands.find((one) => one.name === name);
          // A first word that is not a command is a tool of the reader's project.
          if (command === undefined) return TOOLS.has(name) ? [] : [`${page}:${line} ${name}`];
          const flags = [...rest.matchAll(/(?<=\s)--[a-z-]+/g)].map(([flag]) => flag);
          return flags
            .filter((flag) => !command.flags.includes(flag))
            .map((flag) => `${page}:${line} ${name} ${flag}`);
        },
      ),
    );
  expect(unknown).toEqual([]);
});

/** Groups and names of tools that the pages use in their examples. */
const TOOLS = new Set(["context", "search", "shop", "tool", "help"]);
