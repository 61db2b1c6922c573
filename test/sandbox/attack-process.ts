/**
 * The agent process of the attack tests: makes the given calls with the real tools, and prints the outcome of each.
 * `runAgent` runs it as a program, as root or as another user, with its own home.
 */
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  bashTool,
  editFileTool,
  grepTool,
  readFileTool,
  runWithToolContext,
  writeFileTool,
} from "../../src/builtin/index.ts";

export type Step =
  /** A script in the sandbox. `during` runs on the host between the files `started` and `go` in the root. */
  | {
      readonly bash: string;
      readonly during?: string;
      readonly allowNetwork?: boolean;
      readonly times?: number;
    }
  | { readonly write: string; readonly content: string }
  | { readonly edit: string; readonly patch: string }
  | { readonly read: string }
  | { readonly grep: string; readonly path?: string }
  | { readonly host: string }
  /** Starts a script that runs until the process ends. */
  | { readonly background: string };

export interface Ended {
  readonly ok: boolean;
  readonly text: string;
  readonly code?: string;
}

const [, , rootDir = "", given = "[]", isolation] = process.argv;
const waiting: Promise<unknown>[] = [];
const stop = new AbortController();

const inContext = <T>(work: () => Promise<T>, allowNetwork = false): Promise<T> =>
  runWithToolContext(
    {
      rootDir,
      allowNetwork,
      isolation: isolation === "auto" ? "auto" : "require",
      maxOutputBytes: 200_000,
      timeoutMs: 60_000,
      signal: stop.signal,
    },
    work,
  );
const onHost = (text: string): string =>
  execFileSync("/bin/sh", ["-c", text], {
    cwd: rootDir,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((done) => setTimeout(done, 5));
}

async function perform(step: Step): Promise<string> {
  if ("host" in step) return onHost(step.host);
  if ("write" in step) return inContext(() => writeFileTool(step.write, step.content));
  if ("edit" in step) return inContext(() => editFileTool(step.edit, step.patch));
  if ("read" in step) return inContext(() => readFileTool(step.read));
  if ("grep" in step) return inContext(() => grepTool(step.grep, step.path));
  if ("background" in step) {
    let isOver = false;
    const running = inContext(() => bashTool("sh", ["-c", step.background]));
    waiting.push(running.catch(() => undefined).finally(() => (isOver = true)));
    await until(() => isOver || existsSync(join(rootDir, "started")));
    if (isOver) throw new Error(`The background script ended before it had started: ${await running}`);
    return "";
  }
  const running = inContext(() => bashTool("sh", ["-c", step.bash]), step.allowNetwork);
  if (step.during === undefined) return running;
  let isOver = false;
  running.catch(() => undefined).finally(() => (isOver = true));
  await until(() => isOver || existsSync(join(rootDir, "started")));
  if (isOver) return running;
  onHost(step.during);
  writeFileSync(join(rootDir, "go"), "");
  return running;
}

const ended: Ended[] = [];
for (const step of JSON.parse(given) as Step[]) {
  for (let time = 0; time < ("times" in step ? (step.times ?? 1) : 1); time += 1) {
    try {
      ended.push({ ok: true, text: await perform(step) });
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      ended.push({ ok: false, text: error instanceof Error ? error.message : String(error), code });
    }
  }
}
stop.abort();
await Promise.all(waiting);
process.stdout.write(JSON.stringify(ended));
