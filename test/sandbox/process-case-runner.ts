/**
 * Runs one case of the table: sets it up, calls the tool's function, and checks everything that the case expects.
 * `{ROOT}`, `{OUT}`, `{PORT}`, `{TAG}`, `{NONCE}`, `{HOME}` and `{RUNSOCK}` stand for what the runner made.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { expect } from "vitest";
import { ToolwrightError } from "../../src/errors.ts";
import { searchFiles } from "../../src/sandbox/search/search-files.ts";
import { runCommand } from "../../src/sandbox/process/run-command.ts";
import {
  chosenIsolation,
  createPlace,
  DEFAULTS,
  openListeners,
  shell,
  sleepMark,
  untilGone,
} from "./process-harness.ts";
import { promptly, type Within } from "./promptly.ts";

export interface SandboxCase {
  readonly id: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly setup: readonly string[];
  readonly ctx?: { readonly timeoutMs?: number };
  readonly expected: {
    readonly outcome: "ok" | "error" | "either";
    readonly code?: string;
    readonly not?: string;
    readonly invariant?: string;
    readonly output?: string;
    readonly trimmed?: string;
    readonly includes?: readonly string[];
    readonly excludes?: readonly string[];
    readonly absent?: readonly string[];
    readonly maxBytes?: number;
    readonly maxMs?: number;
    readonly dead?: boolean;
  };
}

/** For a command that must not be cut off. */
const PATIENCE_MS = 20_000;
/** For processes that a command left behind. */
const LONGEST_DYING_MS = 500;

export interface CaseRunner {
  run(each: SandboxCase): Promise<void>;
  close(): void;
}

export async function createCaseRunner(): Promise<CaseRunner> {
  const listeners = await openListeners();
  const nonce = `toolwright-nonce-${process.pid}`;
  const canary = join(homedir(), nonce);
  mkdirSync(canary, { recursive: true });
  writeFileSync(join(canary, "id_rsa"), "HELDOUT-CANARY\n");
  const socketFolder = mkdtempSync(join(existsSync("/run/user") ? tmpdir() : tmpdir(), "toolwright-run-"));
  const runSocket = process.getuid?.() === 0 ? `/run/${nonce}.sock` : join(socketFolder, "s.sock");
  await listeners.listenOn(runSocket);

  return {
    run: (each) => promptly((within) => runOnce(each, within)),
    close() {
      listeners.close();
      rmSync(canary, { recursive: true, force: true });
      rmSync(socketFolder, { recursive: true, force: true });
    },
  };

  async function runOnce(each: SandboxCase, within: Within): Promise<void> {
    const place = createPlace();
    const tag = sleepMark();
    const words: Record<string, string> = {
      ROOT: place.root,
      OUT: place.out,
      PORT: String(listeners.port),
      TAG: tag,
      NONCE: nonce,
      HOME: homedir(),
      RUNSOCK: runSocket,
    };
    const fill = (value: unknown): unknown => fillIn(value, words);
    const socket = createServer();
    try {
      if (each.id.includes("path-socket")) await once(socket.listen(join(place.root, "s.sock")), "listening");
      for (const line of each.setup) shell(line, { ROOT: place.root, OUT: place.out });
      const before = {
        hits: listeners.hits(),
        secret: readFileSync(join(place.out, "secret.txt"), "utf8"),
      };
      const begin = Date.now();
      const got = await call(each, fill(each.input) as Input, place.root);
      const tookMs = Date.now() - begin;
      compare(each, got, fill);
      within("the call", tookMs, each.expected.maxMs ?? Infinity);
      expect(listeners.hits()).toBe(before.hits);
      expect(readFileSync(join(place.out, "secret.txt"), "utf8")).toBe(before.secret);
      if (each.expected.dead === true) {
        const ended = Date.now();
        expect(await untilGone(tag)).toBe(0);
        within("dying", Date.now() - ended, LONGEST_DYING_MS);
      }
    } finally {
      socket.close();
      rmSync(`${place.root}.link`, { force: true });
      rmSync(`${place.root}-evil`, { recursive: true, force: true });
      place.remove();
    }
  }
}

interface Input {
  readonly cmd?: string;
  readonly args?: readonly string[];
  readonly opts?: { readonly cwd?: string };
  readonly pattern?: string;
  readonly path?: string;
}

interface Got {
  readonly output?: string;
  readonly code?: string;
  readonly text: string;
}

async function call(each: SandboxCase, input: Input, rootDir: string): Promise<Got> {
  // A crashing parent has its own test; here the command only has to end with its call.
  const timeoutMs = each.ctx?.timeoutMs ?? (each.id.endsWith("parent-crash") ? 300 : PATIENCE_MS);
  try {
    const { output } =
      each.tool === "grep"
        ? await searchFiles({
            ...DEFAULTS,
            on: chosenIsolation(),
            rootDir,
            timeoutMs,
            pattern: input.pattern ?? "",
            path: input.path,
          })
        : await runCommand({
            ...DEFAULTS,
            on: chosenIsolation(),
            rootDir,
            timeoutMs,
            cmd: input.cmd ?? "",
            args: input.args ?? [],
            cwd: input.opts?.cwd,
          });
    return { output, text: output };
  } catch (error) {
    if (!ToolwrightError.is(error)) throw error;
    return { code: error.code, text: error.message };
  }
}

function compare({ expected, id }: SandboxCase, got: Got, fill: (value: unknown) => unknown): void {
  const codes = id.endsWith("parent-crash") ? [] : (expected.code?.split("|") ?? []);
  if (expected.outcome === "ok") expect(got).not.toHaveProperty("code");
  if (expected.outcome === "error") expect(got).toHaveProperty("code");
  if (got.code !== undefined && codes.length > 0 && !codes.includes("TOOL_*"))
    expect(codes).toContain(got.code);
  if (expected.not !== undefined) expect(got.code).not.toBe(expected.not);
  if (expected.output !== undefined) expect(got.output).toBe(fill(expected.output));
  if (expected.trimmed !== undefined) expect(got.output?.trim()).toBe(fill(expected.trimmed));
  for (const text of listOf(fill(expected.includes))) expect(got.text).toContain(text);
  for (const text of listOf(fill(expected.excludes))) expect(got.text).not.toContain(text);
  for (const path of listOf(fill(expected.absent))) expect(existsSync(path)).toBe(false);
  if (expected.invariant?.includes("OUTSIDE-SECRET") === true)
    expect(got.text).not.toContain("OUTSIDE-SECRET");
  if (expected.maxBytes !== undefined)
    expect(Buffer.byteLength(got.text)).toBeLessThanOrEqual(expected.maxBytes);
}

const listOf = (value: unknown): string[] => (Array.isArray(value) ? (value as string[]) : []);

/** A string that starts with `js:` is an expression; one in a list may expand to several entries. */
function fillIn(value: unknown, words: Readonly<Record<string, string>>): unknown {
  if (typeof value === "string") {
    if (value.startsWith("js:")) return runInNewContext(value.slice(3)) as unknown;
    return value.replaceAll(/\{([A-Z]+)\}/g, (whole, name: string) => words[name] ?? whole);
  }
  if (Array.isArray(value)) {
    return value.flatMap((each) => {
      const filled = fillIn(each, words);
      return Array.isArray(filled) ? Array.from(filled as unknown[]) : [filled];
    });
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fillIn(each, words)]));
}
