/**
 * Helpers for the tests of the process sandbox: a root with a secret next to it, listeners that count connections, and
 * an error for a machine without bubblewrap. Listeners are on loopback and on paths only.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createSocket } from "node:dgram";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { ToolwrightError } from "../../src/errors.ts";
import { createIsolation, describeIsolation, type Isolation } from "../../src/sandbox/tiers/isolation.ts";
import {
  runCommand,
  type CommandRequest,
  type CommandResult,
} from "../../src/sandbox/process/run-command.ts";
import type { Tier } from "../../src/sandbox/tiers/tier.ts";

/** Undefined means the tier that the process would choose, which has to be bubblewrap. */
let chosen: Isolation | undefined;

/** Sets the tier of all later commands of this harness; the tier has to work here. */
export function runCommandsIn(tier: Tier): void {
  chosen = createIsolation({ path: () => process.env["PATH"], warn: () => {}, tiers: [tier] });
}

export const chosenIsolation = (): Isolation | undefined => chosen;

export async function requireBubblewrap(): Promise<void> {
  if (chosen !== undefined) return void (await chosen.choose("require", []));
  const { tier, reason } = await describeIsolation();
  if (tier === "bwrap") return;
  throw new Error(`These tests need bubblewrap: apt-get install bubblewrap. Here it is: ${reason ?? tier}`);
}

export interface Place {
  readonly base: string;
  readonly root: string;
  readonly out: string;
  remove(): void;
}

/** `root` to work in and `out` next to it, with `secret.txt` in it. */
export function createPlace(parent: string = tmpdir()): Place {
  const base = mkdtempSync(join(parent, "toolwright-test-"));
  const [root, out] = [join(base, "root"), join(base, "out")];
  mkdirSync(root);
  mkdirSync(out);
  writeFileSync(join(out, "secret.txt"), "OUTSIDE-SECRET\n");
  const remove = (): void => {
    // A case may have removed the owner's own permissions.
    execFileSync("chmod", ["-R", "u+rwX", base]);
    rmSync(base, { recursive: true, force: true });
  };
  return { base, root, out, remove };
}

export const DEFAULTS = {
  args: [],
  allowNetwork: false,
  maxOutputBytes: 200_000,
  timeoutMs: 20_000,
  isolation: "require",
} as const satisfies Partial<CommandRequest>;

export type Outcome =
  | { readonly ok: true; readonly result: CommandResult; readonly text: string }
  | { readonly ok: false; readonly error: ToolwrightError; readonly text: string };

/** Runs a command; an error that is not a ToolwrightError fails the test. */
export async function attempt(
  request: Pick<CommandRequest, "cmd" | "rootDir"> & Partial<CommandRequest>,
): Promise<Outcome> {
  try {
    const result = await runCommand({ ...DEFAULTS, on: chosen, ...request });
    return { ok: true, result, text: result.output };
  } catch (error) {
    if (!ToolwrightError.is(error)) throw error;
    return { ok: false, error, text: error.message };
  }
}

export function script(root: string, text: string, more: Partial<CommandRequest> = {}): Promise<Outcome> {
  return attempt({ cmd: "sh", args: ["-c", text], rootDir: root, ...more });
}

/** Runs a script that times out once `isReady`, and never before, however slow the machine is. */
export async function scriptTimedOut(
  root: string,
  text: string,
  isReady: () => boolean,
): Promise<Outcome & { readonly tookMs: number }> {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  try {
    const running = script(root, text);
    await until(isReady);
    vi.advanceTimersByTime(DEFAULTS.timeoutMs);
    vi.useRealTimers();
    const struck = Date.now();
    return { ...(await running), tookMs: Date.now() - struck };
  } finally {
    vi.useRealTimers();
  }
}

export interface Listeners {
  readonly port: number;
  readonly udpPort: number;
  readonly abstractName: string;
  readonly hits: () => number;
  listenOn(path: string): Promise<void>;
  close(): void;
}

export async function openListeners(): Promise<Listeners> {
  let hits = 0;
  const servers: Server[] = [];
  const listen = async (options: { path: string } | { host: string; port: number }): Promise<Server> => {
    const server = createServer((socket) => {
      hits += 1;
      socket.on("error", () => {});
      socket.end("HTTP/1.0 200 OK\r\n\r\nreached");
    });
    await new Promise<void>((done, fail) => server.once("error", fail).listen(options, done));
    servers.push(server);
    return server;
  };
  const tcp = await listen({ host: "127.0.0.1", port: 0 });
  const address = tcp.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await listen({ host: "::1", port }).catch(() => undefined);
  const abstractName = `toolwright-test-${process.pid}-${port}`;
  await listen({ path: `\0${abstractName}` });
  const udp = createSocket("udp4", () => (hits += 1));
  await new Promise<void>((done) => udp.bind(0, "127.0.0.1", done));
  return {
    port,
    udpPort: udp.address().port,
    abstractName,
    hits: () => hits,
    listenOn: async (path) => void (await listen({ path })),
    close() {
      for (const server of servers) server.close();
      udp.close();
    },
  };
}

/** How many processes of this machine have `mark` among their arguments; a shell that only spells it does not count. */
export function countProcesses(mark: string): number {
  return readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").includes(mark);
    } catch {
      return false; // Gone by now.
    }
  }).length;
}

/** How many are left. The kernel may need a while for them; each would sleep for far longer than this waits. */
export async function untilGone(mark: string): Promise<number> {
  const deadline = Date.now() + 20_000;
  await until(() => countProcesses(mark) === 0 || Date.now() > deadline);
  return countProcesses(mark);
}

const realSetTimeout = setTimeout;

/** Waits in real time, even if a test uses fake timers. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((done) => realSetTimeout(done, 20));
}

/** A number that no other `sleep` on this machine is likely to use. */
export function sleepMark(): string {
  return `${600 + Math.floor(Math.random() * 300)}.${process.pid}${Math.floor(Math.random() * 1e6)}`;
}

export function shell(text: string, env: Readonly<Record<string, string>> = {}): void {
  execFileSync("/bin/sh", ["-c", text], { env: { ...process.env, ...env }, stdio: "ignore" });
}
