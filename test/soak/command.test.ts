/** `npm run soak` as a command: its options, and what it leaves behind. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { IS_EXHAUSTIVE } from "../amount.ts";
import { readRecord } from "./record.ts";

const SOAK = resolve(import.meta.dirname, "../../scripts/soak.ts");
const BENCH = resolve(import.meta.dirname, "../../bench");

interface Started {
  readonly child: ChildProcess;
  /** Its folder for temporary files. */
  readonly folder: string;
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>;
  readonly stdout: () => string;
  readonly stderr: () => string;
}

function createFolder(): string {
  // The other user, as which PostgreSQL runs, must be able to enter it.
  const folder = mkdtempSync(join(tmpdir(), "toolwright-soaked-"));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function start(args: readonly string[]): Started {
  const folder = createFolder();
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, TMPDIR: folder },
    // As in a terminal, where an interrupt reaches the whole group.
    detached: true,
  });
  let stdout = "";
  let stderr = "";
  child.stderr?.on("data", (text: Buffer) => (stderr += String(text)));
  child.stdout?.on("data", (text: Buffer) => (stdout += String(text)));
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, stderr }));
  return { child, folder, ended, stdout: () => stdout, stderr: () => stderr };
}

const signalGroup = ({ child }: Started, name: NodeJS.Signals): boolean =>
  process.kill(-(child.pid ?? Number.NaN), name);

/** Processes whose arguments contain the text. */
function processesWith(text: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
    } catch {
      // It has ended.
      return false;
    }
  });
}

test.each([
  [["--minutes", "0"], "--minutes"],
  // Longer than the longest timer.
  [["--minutes", "40000"], "--minutes"],
  [["--seed", "1.5"], "--seed"],
  [["--store", "mysql"], "--store"],
  [["--kills", "none"], "--kills"],
  [["--record", "/nonexistent/results.jsonl"], "--record"],
  [["--fast"], "--fast"],
])("refuses %j with the reason and the options", async (args, name) => {
  const { code, stderr } = await start([SOAK, ...args]).ended;
  expect(stderr.split("\n")[0]).toContain(name);
  expect(stderr).toContain("npm run soak -- [options]");
  expect(code).toBe(2);
});

test("refuses to add to a file that holds something else", async () => {
  const file = join(createFolder(), "results.jsonl");
  writeFileSync(file, "notes\n");
  const { code, stderr } = await start([SOAK, "--record", file]).ended;
  expect(stderr).toContain("line 1 is not a result of a soak");
  expect(code).toBe(2);
});

// As in soak.test.ts: what a soak finds depends on the speed of the machine.
test.runIf(IS_EXHAUSTIVE)("prints JSON only, and adds one line to its record", async () => {
  const file = join(createFolder(), "results.jsonl");
  const args = ["--minutes=0.02", "--store=sqlite", "--seed=1", "--json", `--record=${file}`];
  const { ended, folder, stdout } = start([SOAK, ...args]);
  expect((await ended).code).toBe(0);
  expect(JSON.parse(stdout())).toMatchObject({ seed: 1, stores: ["sqlite"], faults: [] });
  expect(readRecord(file)).toMatchObject([{ seed: 1, minutes: 0.02, faults: 0 }]);
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  ["SIGTERM", "SIGTERM", 143],
  ["a second SIGINT", "SIGINT", 130],
] as const)("ends at %s, and leaves no process, folder or disk behind", async (_, name, code) => {
  const { child, folder, ended, stderr } = start([SOAK, "--minutes=1", "--store=sqlite", "--seed=1"]);
  await expect.poll(() => processesWith(join(folder, "toolwright-programs-")).length).toBeGreaterThan(2);
  if (name === "SIGINT") {
    child.kill(name);
    await expect.poll(stderr).toContain("Press Ctrl-C again");
  }
  child.kill(name);
  expect((await ended).code).toBe(code);
  expect(readdirSync(folder)).toEqual([]);
  await expect.poll(() => processesWith(folder)).toEqual([]);
  expect(readFileSync("/proc/mounts", "utf8")).not.toContain(folder);
});

test("a benchmark with PostgreSQL that is interrupted leaves nothing behind", async () => {
  const script = `
    import { withPostgres } from ${JSON.stringify(join(BENCH, "postgres-server.ts"))};
    import { inFolder } from ${JSON.stringify(join(BENCH, "measure.ts"))};
    import { exitOnSignals } from ${JSON.stringify(resolve(BENCH, "../test/at-exit.ts"))};
    exitOnSignals("SIGINT");
    await inFolder(() => withPostgres(async () => {
      console.error("ready");
      await new Promise((resolve) => setTimeout(resolve, 1e6));
    }, { durable: true }));`;
  const started = start(["--input-type=module", "-e", script]);
  const { folder, ended, stderr } = started;
  await expect.poll(stderr).toBe("ready\n");
  expect(readdirSync(folder).join(" ")).toMatch(/toolwright-bench-.*toolwright-postgres-/);
  signalGroup(started, "SIGINT");
  expect((await ended).code).toBe(130);
  // The server shuts down first.
  await expect.poll(() => readdirSync(folder)).toEqual([]);
});
