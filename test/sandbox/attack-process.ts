/**
 * The agent process of the attack tests. Each line of its standard input is a request: it makes the given calls with the
 * real tools, in the given root and home, and prints the outcome of each. `attack-agent.ts` runs it as a program, as root
 * or as another user.
 */
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
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

export interface AttackRequest {
  readonly base: string;
  readonly root: string;
  readonly home: string;
  readonly isolation: "require" | "auto";
  readonly steps: readonly Step[];
}

let rootDir = "";
let isolation: AttackRequest["isolation"] = "require";
let waiting: Promise<unknown>[] = [];
let stop = new AbortController();

const inContext = <T>(work: () => Promise<T>, allowNetwork = false): Promise<T> =>
  runWithToolContext(
    {
      rootDir,
      allowNetwork,
      isolation,
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

async function performAll(request: AttackRequest): Promise<Ended[]> {
  [rootDir, isolation] = [request.root, request.isolation];
  [waiting, stop] = [[], new AbortController()];
  process.env["HOME"] = request.home;
  process.chdir(request.base);
  const ended: Ended[] = [];
  for (const step of request.steps) {
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
  // The folder of this request may be deleted before the next one.
  process.chdir("/");
  return ended;
}

for await (const line of createInterface(process.stdin))
  process.stdout.write(`${JSON.stringify(await performAll(JSON.parse(line) as AttackRequest))}\n`);
