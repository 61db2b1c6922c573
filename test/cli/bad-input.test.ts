/** Bad input gets a one-sentence error with a fix, exit code 1 and no stack trace. */
import { readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createFolder, MAIN, toolwright } from "./command.ts";
import { GREETING } from "./workflows.ts";
import { spawnSync } from "node:child_process";

const FILES: Readonly<Record<string, string>> = {
  "good.tsx": GREETING,
  "broken.tsx": "const a = 1;\nexport default <Workflow name=;\n",
  "empty.ts": "export const a = 1;\n",
  "named.tsx": GREETING.replace("export default", "export const mine ="),
  "throws.ts": 'const a = 1;\nthrow new Error("no luck\\nsecond line");\n',
  "wrong-name.ts": 'import { defineConfig } from "toolwright";\nexport default defineConfig({});\n',
  "missing.ts": 'import "no-such-package";\n',
  "lost.ts": 'import "./nowhere.ts";\n',
  "render.tsx": GREETING.replace("<Workflow", '(() => { throw new Error("cannot draw"); })() ?? <Workflow'),
  "notes.txt": "hello",
  "refused.ts":
    'import { defineTool } from "toolwright";\nimport { z } from "zod";\ndefineTool({ name: "t", schema: z.object({ n: z.bigint() }), execute: () => 1 });\n',
  "never.tsx": GREETING.replace("{() =>", "{() => new Promise(() => undefined) ??"),
  "imports-broken.ts": 'import "./broken.tsx";\nexport default 1;\n',
};

const CASES: readonly (readonly [string, readonly string[], RegExp])[] = [
  [
    "a file that does not compile",
    ["up", "broken.tsx"],
    /^toolwright: broken\.tsx:2:\d+ does not compile: \S/,
  ],
  [
    "an import that does not compile",
    ["up", "imports-broken.ts"],
    /^toolwright: broken\.tsx:2:\d+ does not compile/,
  ],
  [
    "a file without a workflow",
    ["up", "empty.ts"],
    /empty\.ts has no default export that is a workflow\.\n.*export default/,
  ],
  ["a workflow that is not a default export", ["up", "named.tsx"], /export default mine/],
  [
    "an import of a name that is not exported",
    ["up", "wrong-name.ts"],
    /wrong-name\.ts could not be loaded: .*defineConfig'?\n {2}It was thrown at wrong-name\.ts:1 while/,
  ],
  ...(process.platform === "linux"
    ? ([
        ["a folder that cannot be created", ["init", "/proc/x"], /\/proc\/x cannot be written: ENOENT/],
      ] as const)
    : []),
  ["a file that throws", ["up", "throws.ts"], /throws\.ts could not be loaded: no luck\n.*throws\.ts:2/],
  [
    "a package that is not there",
    ["up", "missing.ts"],
    /needs the package "no-such-package".*\n.*npm install no-such-package/,
  ],
  ["an import that is not there", ["up", "lost.ts"], /lost\.ts needs nowhere\.ts, which cannot be found/],
  [
    "a tree that cannot be rendered",
    ["up", "render.tsx", "--input", '{"name":"a"}', "--json"],
    /cannot draw/,
  ],
  [
    "a task that waits for nothing",
    ["up", "never.tsx", "--input", '{"name":"a"}'],
    /waits for a promise that can no longer settle[^]*resume/,
  ],
  ["a tool that cannot be defined", ["up", "refused.ts"], /z\.bigint\(\)[^]*thrown at refused\.ts:3/],
  ["a folder that is not there", ["up", "good.tsx", "--root-dir", "no/where"], /no folder .*no\/where/],
  ["a folder", ["up", "."], /is not a file\.\n.*workflow\.tsx/],
  ["no file", ["up", "nothing.tsx"], /There is no file .*nothing\.tsx/],
  ["a file of another kind", ["up", "notes.txt"], /must end in \.ts/],
  ["input that is not JSON", ["up", "good.tsx", "--input", "{name}"], /--input is not valid JSON/],
  [
    "an input file that is not there",
    ["up", "good.tsx", "--input", "@none.json"],
    /none\.json cannot be read/,
  ],
  [
    "input that does not fit",
    ["up", "good.tsx", "--input", '{"name":1}'],
    /The input does not match the workflow.s input schema: name: .*expected string/,
  ],
  ["an invalid number", ["up", "good.tsx", "--concurrency", "many"], /--concurrency.*whole number from 1/],
  ["--resume without an id", ["up", "good.tsx", "--resume"], /--resume needs --run-id/],
  ["a run that is not there", ["resume", "r9", "--store", "good.db"], /There is no run "r9" in good\.db/],
  ["a run that is not there", ["why", "r9", "--store", "good.db"], /There is no run "r9" in good\.db/],
  [
    "a run that is not there",
    ["ps", "--before", "r9", "--store", "good.db"],
    /^toolwright: There is no run "r9" in good\.db\.\n.* ps --store good\.db$/m,
  ],
  ["a store that is not there", ["inspect", "r9", "--store", "lost.db"], /There is no store .*lost\.db/],
  [
    "a request that is not there",
    ["approve", "a9", "--store", "good.db"],
    /There is no .*a9[^]*approvals --store good\.db/,
  ],
  ["a finished run", ["resume", "done", "--store", "good.db"], /Run "done" is finished/],
  ["a finished run", ["cancel", "done", "--store", "good.db"], /has finished already/],
  ["a damaged store", ["ps", "--store", "notes.txt"], /notes\.txt is damaged or is not a SQLite database/],
  [
    "a damaged store",
    ["up", "good.tsx", "--input", '{"name":"a"}', "--store", "notes.txt"],
    /is damaged or is not/,
  ],
  ["a store of a newer version", ["ps", "--store", "newer.db"], /schema version 9999/],
  [
    "a database that is not there",
    ["ps", "--store", "postgres://127.0.0.1:1/none"],
    /cannot|refused|failed/i,
  ],
  ...["ps", "approvals", "why r9", "gc", "approve a9"].map(
    (command) =>
      [
        "the database of another program",
        [...command.split(" "), "--store", "other.db"],
        /other\.db is a SQLite database without Toolwright tables/,
      ] as const,
  ),
  ...["mysql://bob:s3cret@h/x", "POSTGRES://bob:s3cret@h/x", " postgres://bob:s3cret@h/x"].map(
    (address) =>
      [
        "a store of another kind, whose password is masked",
        ["ps", "--store", address],
        /^toolwright: --store must be a SQLite file or a postgres:\/\/ address, not (?!.*s3cret).*:\*\*\*@h\/x/,
      ] as const,
  ),
  [
    "a PostgreSQL address that is no URL",
    ["ps", "--store", "postgres://bob:s3cret@h:port/x"],
    /^(?![^]*s3cret)[^]*Invalid URL[^]*Correct the address of the store[^]*%40/,
  ],
  ["a label that is not key=value", ["ps", "--label", "acme"], /--label must be key=value, not "acme"/],
  [
    "a choice that does not exist",
    ["fork", "done", "--effects", "redo", "--store", "good.db"],
    /'--effects <what>' argument 'redo' is invalid\. Allowed choices are ask, reuse, run/,
  ],
  [
    "a schedule without a time",
    ["schedule", "set", "x", "--workflow", "w"],
    /A schedule needs --cron or --every, and neither is given\./,
  ],
  [
    "a schedule with two times",
    ["schedule", "set", "x", "--workflow", "w", "--cron", "0 3 * * *", "--every", "1000"],
    /A schedule needs --cron or --every, not both\./,
  ],
  ["an empty store", ["ps", "--store", ""], /'--store <path>' argument is empty/],
  ["an empty run id", ["up", "good.tsx", "--run-id="], /'--run-id <id>' argument is empty/],
  ["an empty approver", ["approve", "a9", "--by", ""], /'--by <name>' argument is empty/],
  [
    "an option twice",
    ["ps", "--status", "failed", "--status", "finished"],
    /'--status failed' and '--status finished' cannot be combined/,
  ],
  [
    "a switch and its opposite",
    ["up", "good.tsx", "--no-allow-network", "--allow-network"],
    /'--no-allow-network' and '--allow-network' cannot be combined/,
  ],
  ["a port that does not exist", ["mcp", "--http", "70000"], /whole number from 0 to 65535/],
  [
    "requests of a run that is not there",
    ["approvals", "--run", "r9", "--store", "good.db"],
    /There is no run "r9" in good\.db/,
  ],
  ["a command that is not there", ["fly"], /unknown command 'fly'[^]*the folder of toolwright\.config\.ts/],
];

describe("bad input", () => {
  it("is reported with a sentence for each case", async () => {
    const folder = createFolder(FILES);
    await toolwright(folder, [
      "up",
      "good.tsx",
      "--input",
      '{"name":"a"}',
      "--run-id",
      "done",
      "--store",
      "good.db",
    ]);
    const newer = new DatabaseSync(join(folder, "newer.db"));
    newer.exec("CREATE TABLE toolwright_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)");
    newer.exec("INSERT INTO toolwright_meta VALUES ('version', '9999')");
    newer.close();
    const other = new DatabaseSync(join(folder, "other.db"));
    other.exec("CREATE TABLE users (name TEXT)");
    other.close();
    const results = await Promise.all(
      CASES.map(async ([what, args, words]) => {
        const { code, stdout, stderr } = await toolwright(folder, args);
        const text = args.includes("--json") ? stdout : stderr.replace(/^error: /, "toolwright: ");
        return { what, args, code, isSaid: words.test(text), isTraced: /^ {4}at /m.test(stderr), text };
      }),
    );
    const wrong = results.filter(({ code, isSaid, isTraced }) => code !== 1 || !isSaid || isTraced);
    expect(wrong).toEqual([]);
  });
});

it("shows the stack with --debug, at the author's own lines", async () => {
  const folder = createFolder(FILES);
  const { stderr } = await toolwright(folder, ["up", "throws.ts", "--debug"]);
  expect(stderr).toMatch(/at .*throws\.ts:2:7/);
});

it("prints the error as JSON with --json", async () => {
  const folder = createFolder(FILES);
  const result = await toolwright(folder, ["up", "empty.ts", "--json"]);
  expect(result.json()).toEqual({
    error: { code: "CLI_NO_WORKFLOW", message: expect.any(String), hint: expect.any(String) },
  });
});

it("reports immediately that Node is too old", () => {
  const old = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"20.11.0"}})';
  const { status, stderr } = spawnSync(process.execPath, ["--import", old, MAIN, "ps"], { encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toMatch(/Node 20\.11\.0 is too old\. Toolwright needs Node 22\.13 or later/);
});

it("leaves a damaged store unchanged", async () => {
  const folder = createFolder({ "w.tsx": GREETING });
  const path = join(folder, "toolwright.db");
  writeFileSync(path, "not a database, and important");
  await toolwright(folder, ["up", "w.tsx", "--input", '{"name":"a"}']);
  expect(readFileSync(path, "utf8")).toBe("not a database, and important");
});

it("lists nothing for a store that does not exist, and reports that, with --json on stderr", async () => {
  const folder = createFolder();
  for (const command of ["ps", "approvals"]) {
    const text = await toolwright(folder, [command, "--store", "lost.db"]);
    expect(text).toMatchObject({ code: 0, stdout: expect.stringContaining("There is no store lost.db") });
    const json = await toolwright(folder, [command, "--store", "lost.db", "--json"]);
    expect(json).toMatchObject({
      code: 0,
      stdout: "[]\n",
      stderr: expect.stringContaining("There is no store"),
    });
  }
});
