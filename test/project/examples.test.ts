/** Every example runs offline, against the built package, as a user would run it, and fails if its claim is false. */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, parse, resolve } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { IS_EXHAUSTIVE } from "../amount.ts";

// Many processes, one after another, perhaps next to other tests.
vi.setConfig({ testTimeout: 120_000 });

const ROOT = resolve(import.meta.dirname, "../..");
const EXAMPLES = join(ROOT, "examples");

const names = [
  ...readFileSync(join(EXAMPLES, "README.md"), "utf8").matchAll(/`npm run example ([\w-]+)`/g),
].map(([, name = ""]) => name);

test("examples/README.md names every example", () => {
  const helpers = new Set(["README", "run", "toolwright-command"]);
  const found = readdirSync(EXAMPLES).map((file) => parse(file).name);
  expect(names.toSorted()).toEqual(found.filter((name) => !helpers.has(name)).toSorted());
});

test.each(names)("npm run example %s: runs and checks itself", (name) => {
  const folder = createFolder();
  const { status, stdout, stderr } = run(EXAMPLES, name, folder);
  // Some examples start an ended run once more, to show that nothing is repeated.
  const unexpected = stderr.replaceAll(
    /^toolwright: run .* (?:has ended|was used before), so this is its recorded answer.*\n/gm,
    "",
  );
  expect({ status, unexpected }).toEqual({ status: 0, unexpected: "" });
  expect(stdout.split("\n").length).toBeGreaterThan(3);
});

/** Checked every night: what they show has tests of its own. */
const MORE = [
  ["demo", ["demo/shop.ts", "known.idempotencyKey === idempotencyKey", "false"], "shop's ledger once"],
  [
    "durable-order",
    ["durable-order/order.tsx", "idempotencyKey: ({ orderNumber }) => orderNumber,", ""],
    "returns the logged result",
  ],
  ["fan-out", ["fan-out.tsx", "lines: content", "lines: 1"], "lines > tasks"],
  ["context", ["context.ts", "rootDir: folder, embeddingModel,", "rootDir: folder,"], "- 'embedding'"],
  ["langchain", ["langchain.ts", 'runtime.run({ runId: "monday" }, answer)', "answer()"], "Mails: 2"],
] as const;

test.each([
  ...(IS_EXHAUSTIVE ? MORE : []),
  ["review-loop", ["review-loop.tsx", "maxIterations={5}", "maxIterations={2}"], "limit of 2 iterations"],
  ["refactor", ["refactor/model.ts", "sum * 0.9", "sum * 0.8"], 'Task "check" failed'],
  ["openai-agents", ["openai-agents.ts", "needsApproval: true,", ""], "AssertionError"],
] as const)("%s fails if its claim is false", (name, change, words) => {
  const folder = createFolder();
  const { status, stdout, stderr } = run(copyExamples(folder, ...change), name, folder);
  expect(stdout + stderr).toContain(words);
  expect(status).toBe(1);
});

test("refactor uses the real provider if there is a key", () => {
  const folder = createFolder();
  const examples = copyExamples(folder);
  const provider = join(folder, "node_modules/@ai-sdk/anthropic");
  mkdirSync(provider, { recursive: true });
  writeFileSync(join(provider, "package.json"), '{ "type": "module", "exports": "./index.js" }');
  writeFileSync(
    join(provider, "index.js"),
    `export const anthropic = (modelId) => ({
      specificationVersion: "v4", provider: "stand-in", modelId, supportedUrls: {},
      doGenerate: async () => { throw new Error("asked for " + modelId); }, doStream: async () => undefined,
    });`,
  );
  const { status, stdout } = run(examples, "refactor", folder, { ANTHROPIC_API_KEY: "a key" });
  expect(status).toBe(1);
  expect(stdout).toMatch(/"refactor" failed after 3 attempts: .*asked for claude-/);
});

test("refactor says what to install if there is a key but no provider", () => {
  const folder = createFolder();
  const examples = copyExamples(folder, "refactor/model.ts", "@ai-sdk/anthropic", "@ai-sdk/missing");
  const { status, stderr } = run(examples, "refactor", folder, { ANTHROPIC_API_KEY: "a key" });
  expect(status).toBe(1);
  expect(stderr).toContain(
    "ANTHROPIC_API_KEY is set, but @ai-sdk/missing is not installed. Run: npm install @ai-sdk/missing.",
  );
  expect(stderr).not.toContain("a key");
});

function createFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-examples-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs in its own folder, so that nothing is left in the checkout. */
function run(examples: string, name: string, folder: string, env: Readonly<Record<string, string>> = {}) {
  const { ANTHROPIC_API_KEY: _key, ...rest } = process.env;
  const options = name === "refactor" ? ["--root-dir", folder] : [];
  return spawnSync(process.execPath, [join(examples, "run.ts"), name, ...options], {
    cwd: folder,
    encoding: "utf8",
    env: { ...rest, ...env },
  });
}

/** A copy next to the packages that it needs, as in a user's project, with one text replaced. */
function copyExamples(folder: string, file = "run.ts", from = "", to = ""): string {
  const copy = join(folder, "examples");
  cpSync(EXAMPLES, copy, { recursive: true });
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(ROOT, join(folder, "node_modules/toolwright"));
  for (const name of ["@langchain", "@openai", "ai", "zod"]) {
    symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  }
  const path = join(copy, file);
  const text = readFileSync(path, "utf8");
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
  return copy;
}
