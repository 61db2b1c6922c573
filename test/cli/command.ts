/** Runs the real command in its own process, in its own folder without node_modules. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { onTestFinished, vi } from "vitest";

export const MAIN = resolve(import.meta.dirname, "../../dist/cli/main.js");

// A command takes half a second on an idle machine, and a test may run ten of them, or thirty at once.
vi.setConfig({ testTimeout: 120_000 });

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Parses stdout as JSON. */
  readonly json: () => unknown;
}

interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Finished>;
  /** What stdout contains so far. */
  printed(): string;
  /** Resolves when stdout contains this text; rejects if the command ends without it. */
  saying(text: string): Promise<void>;
  /** The same for stderr. */
  sayingOnStderr(text: string): Promise<void>;
}

export function createFolder(files: Readonly<Record<string, string>> = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-cli-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

export function start(folder: string, args: readonly string[], options: Options = {}): Started {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: "", ...options.env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  let onText = (): void => undefined;
  child.stdout.on("data", (data: Buffer) => {
    stdout += data.toString();
    onText();
  });
  child.stderr.on("data", (data: Buffer) => {
    stderr += data.toString();
    onText();
  });
  child.stdin.end(options.stdin ?? "");
  const ended = new Promise<Finished>((resolve) => {
    child.once("close", (code) =>
      resolve({ code, stdout, stderr, json: () => JSON.parse(stdout) as unknown }),
    );
  });
  const until = (text: string, printed: () => string): Promise<void> =>
    new Promise((resolve, reject) => {
      onText = () => {
        if (printed().includes(text)) resolve();
      };
      onText();
      void ended.then(({ code }) => reject(new Error(`ended with ${code}, said:\n${stdout}${stderr}`)));
    });
  return {
    child,
    ended,
    printed: () => stdout,
    saying: (text) => until(text, () => stdout),
    sayingOnStderr: (text) => until(text, () => stderr),
  };
}

export function toolwright(folder: string, args: readonly string[], options?: Options): Promise<Finished> {
  return start(folder, args, options).ended;
}
