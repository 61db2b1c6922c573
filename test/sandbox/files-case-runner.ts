/**
 * Runs one case of the file tools on a real folder and returns the problems. Must never trust a tool's own result: it
 * compares the tree outside the root byte by byte before and after.
 */
import { execFileSync } from "node:child_process";
import { createServer } from "node:net";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { ToolwrightError } from "../../src/errors.ts";
import { editTextFile } from "../../src/sandbox/files/edit-text-file.ts";
import type { PathStrategy } from "../../src/sandbox/files/path-strategy.ts";
import { readTextFile } from "../../src/sandbox/files/read-text-file.ts";
import { writeTextFile } from "../../src/sandbox/files/write-text-file.ts";
import { promptly, type Within } from "./promptly.ts";

export interface FileCase {
  readonly id: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Shell commands with `$ROOT`, the sandbox root, and `$OUT`, a folder next to it. */
  readonly setup?: readonly string[];
  /** Files that are in the root before the setup. */
  readonly files?: Readonly<Record<string, string>>;
  readonly expected: {
    readonly outcome: "ok" | "error" | "either";
    /** `A|B` accepts either, `TOOL_*` any. */
    readonly code?: string;
    readonly output?: string;
    readonly content?: Readonly<Record<string, string | readonly string[]>>;
    readonly contentIfOk?: Readonly<Record<string, string | readonly string[]>>;
    readonly mode?: Readonly<Record<string, string>>;
    readonly exists?: readonly string[];
    readonly absent?: readonly string[];
    readonly maxMs?: number;
    readonly maxBytes?: number;
    readonly unchanged?: boolean;
  };
}

const MAX_BYTES = 200_000;

/** The problems, one line each; empty if the case passes. */
export async function runFileCase(testCase: FileCase, strategy?: PathStrategy): Promise<string[]> {
  let wrong: string[] = [];
  await promptly(async (within) => {
    wrong = await runOnce(testCase, strategy, within);
  });
  return wrong;
}

async function runOnce(
  testCase: FileCase,
  strategy: PathStrategy | undefined,
  within: Within,
): Promise<string[]> {
  const { id, tool, input, setup = [], files = {}, expected } = testCase;
  const base = realpathSync(mkdtempSync(join(tmpdir(), "files-case-")));
  const root = join(base, "root");
  const out = join(base, "out");
  for (const folder of [root, out]) mkdirSync(folder);
  writeFileSync(join(out, "secret.txt"), "OUTSIDE-SECRET\n");
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(root, name), content, { mode: 0o644 });
  const server = createServer();
  if (id.endsWith("-socket")) await once(server.listen(join(root, "s.sock")), "listening");
  const wrong: string[] = [];
  try {
    for (const command of setup) {
      execFileSync("bash", ["-c", `umask 022\n${command}`], {
        env: { ...process.env, ROOT: root, OUT: out },
      });
    }
    const outsideBefore = snapshot(base, root);
    const insideBefore = snapshot(root);
    const descriptors = openDescriptors();
    const startedAt = performance.now();
    const { output, error } = await call(tool, { ...toInput(input, root), strategy }, root);
    const tookMs = performance.now() - startedAt;

    const status = error === undefined ? "ok" : "error";
    if (expected.outcome !== "either" && status !== expected.outcome) {
      wrong.push(`expected ${expected.outcome}, came ${status}: ${String(error)}`);
    }
    if (error !== undefined) wrong.push(...checkError(error, expected.code ?? "TOOL_*"));
    if (output !== undefined && expected.output !== undefined && output !== expected.output) {
      wrong.push(`expected output ${expected.output}, came ${output}`);
    }
    const contents = { ...expected.content, ...(status === "ok" ? expected.contentIfOk : {}) };
    for (const [name, content] of Object.entries(contents)) {
      const real = readFollowing(join(root, name));
      if (![content].flat().includes(real ?? "")) {
        wrong.push(`${name}: expected ${JSON.stringify(content)}, has ${JSON.stringify(real)}`);
      }
    }
    for (const [name, mode] of Object.entries(expected.mode ?? {})) {
      const real = (lstatSync(join(root, name)).mode & 0o777).toString(8);
      if (real !== mode) wrong.push(`${name}: expected mode ${mode}, has ${real}`);
    }
    for (const name of expected.exists ?? []) {
      if (!existsSync(join(root, name))) wrong.push(`${name} is missing`);
    }
    for (const name of expected.absent ?? []) {
      if (existsSync(name.replace("{ROOT}", root))) wrong.push(`${name} was left behind`);
    }
    if (snapshot(base, root) !== outsideBefore) wrong.push("the tree outside was changed");
    if ((error !== undefined || tool === "read") && snapshot(root) !== insideBefore) {
      wrong.push("the tree inside was changed");
    }
    // Others in this process open and close descriptors too. One that the call left open stays open.
    for (let look = 0; look < 40 && openDescriptors() > descriptors; look += 1) await sleep(50);
    if (openDescriptors() > descriptors) wrong.push("a descriptor was left open");
    if (wrong.length === 0) within("the call", tookMs, expected.maxMs ?? 5000);
  } finally {
    server.close();
    if (setup.some((command) => command.includes("mount "))) execFileSync("umount", [join(root, "p")]);
    rmSync(base, { recursive: true, force: true });
  }
  return wrong;
}

/**
 * `undefined` if there is no such file. Where the kernel looks a path up a second time, it counts the links of the first time
 * too: a chain of exactly 40 is then too long, once.
 */
function readFollowing(path: string): string | undefined {
  for (let look = 0; look < 5; look += 1) {
    try {
      return readFileSync(path, "utf8");
    } catch {
      // It is missing, or the chain was too long.
    }
  }
  return undefined;
}

function checkError(error: unknown, codes: string): string[] {
  if (!ToolwrightError.is(error)) return [`not a ToolwrightError: ${String(error)}`];
  const wrong: string[] = [];
  const isExpected = codes.split("|").some((code) => code === error.code || code === "TOOL_*");
  if (!isExpected) wrong.push(`expected ${codes}, came ${error.code}: ${error.message}`);
  const text = `${error.message} ${error.hint} ${JSON.stringify(error.details)} ${String(error.cause)}`;
  if (text.includes("/proc/self/fd/")) wrong.push(`shows a descriptor: ${text}`);
  if (error.code === "TOOL_PATH_ESCAPE" && text.includes("OUTSIDE-SECRET")) wrong.push("shows the secret");
  if (error.effect !== "none") wrong.push("does not promise that nothing happened");
  return wrong;
}

async function call(
  tool: string,
  input: Record<string, unknown>,
  rootDir: string,
): Promise<{ output?: string; error?: unknown }> {
  const options = Object.assign({ rootDir, maxBytes: MAX_BYTES, path: "", content: "", patch: "" }, input);
  try {
    if (tool === "read") return { output: await readTextFile(options) };
    await (tool === "write" ? writeTextFile(options) : editTextFile(options));
    return { output: "ok" };
  } catch (error) {
    return { error };
  }
}

/** `{ROOT}` stands for the root, and `js: "x".repeat(n)` for a long text. */
function toInput(input: Readonly<Record<string, unknown>>, root: string): Record<string, unknown> {
  const entries = Object.entries(input).map(([key, value]): [string, unknown] => {
    if (typeof value !== "string") return [key, value];
    const repeat = /^js: "(.*)"\.repeat\((\d+)\)$/.exec(value);
    if (repeat !== null) return [key, (repeat[1] ?? "").repeat(Number(repeat[2]))];
    return [key, value.replaceAll("{ROOT}", root)];
  });
  return Object.fromEntries(entries);
}

/** Names, kinds, modes, link targets and the bytes of small files, without the folder `except`. */
function snapshot(folder: string, except?: string): string {
  const lines: string[] = [];
  const pending = [folder];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (path === except) continue;
    const stats = lstatSync(path);
    lines.push(`${path} ${stats.mode} ${stats.size} ${stats.ino}`);
    if (stats.isSymbolicLink()) lines.push(readlinkSync(path));
    if (stats.isDirectory()) for (const name of readdirSync(path)) pending.push(join(path, name));
    if (stats.isFile() && stats.size < 1e6 && (stats.mode & 0o400) !== 0)
      lines.push(readFileSync(path, "hex"));
  }
  // The size of the folder itself changes when files are added or removed.
  return lines.slice(1).toSorted().join("\n");
}

function openDescriptors(): number {
  return existsSync("/proc/self/fd") ? readdirSync("/proc/self/fd").length : 0;
}
