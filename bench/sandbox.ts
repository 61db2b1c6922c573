/** The cost of confinement, each against the same work without it. */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { bashTool, editFileTool, grepTool, readFileTool, runWithToolContext } from "toolwright/tools";
import type { Row } from "./bench.ts";
import { compare, inFolder, median } from "./measure.ts";
import { benchTiers } from "./sandbox-tiers.ts";

const LINE = "the quick brown fox jumps over the lazy dog and runs away\n";

export function benchSandbox(): Promise<Row[]> {
  return inFolder(async (folder) => {
    const rootDir = join(folder, "root");
    const deep = join(rootDir, "a/b/c/d");
    mkdirSync(deep, { recursive: true });
    writeFileSync(join(deep, "small.txt"), LINE);
    const inside = <T>(work: () => T): T => runWithToolContext({ rootDir, maxOutputBytes: 10_485_760 }, work);
    return [
      ...(await benchRead(deep, inside)),
      ...(await benchSpawn(inside)),
      ...(await benchTiers(rootDir)),
      ...(await benchGrep(rootDir, inside)),
      ...(await benchFlood(rootDir)),
      ...(await benchPatch(rootDir, inside)),
    ];
  });
}

type Inside = <T>(work: () => T) => T;

async function benchRead(deep: string, inside: Inside): Promise<Row[]> {
  const times = await compare(
    [
      {
        name: "plain",
        round: (_from, count) => repeat(count, () => void readFileSync(join(deep, "small.txt")).toString()),
      },
      {
        name: "ours",
        round: (_from, count) => inside(() => repeatAsync(count, () => readFileTool("a/b/c/d/small.txt"))),
      },
    ],
    { rounds: 24, count: 200 },
  );
  return pair("readFileSync of a small file", "read, four folders down", times, "µs", 8);
}

async function benchSpawn(inside: Inside): Promise<Row[]> {
  const times = await compare(
    [
      { name: "plain", round: (_from, count) => repeatAsync(count, () => spawned("true")) },
      { name: "ours", round: (_from, count) => inside(() => repeatAsync(count, () => bashTool("true"))) },
    ],
    { rounds: 12, count: 8 },
  );
  return pair("spawn of true", "bash true, in the sandbox", times, "µs", 5);
}

async function benchGrep(rootDir: string, inside: Inside): Promise<Row[]> {
  const tree = join(rootDir, "tree");
  for (let index = 0; index < 4_000; index += 1) {
    const folder = join(tree, String(index % 100));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${index}.txt`), LINE.repeat(300) + (index % 50 === 0 ? "needle\n" : ""));
  }
  const times = await compare(
    [
      { name: "plain", round: () => void spawnSync(rgPath, ["-n", "-e", "needle", "--", tree]) },
      { name: "ours", round: async () => void (await inside(() => grepTool("needle", "tree"))) },
    ],
    { rounds: 12, count: 1 },
  );
  return pair("rg by hand over 4,000 files", "grep, in the sandbox", times, "µs", 1.5);
}

/** `yes` under a long timeout ends early, and the memory of this process hardly grows. */
async function benchFlood(rootDir: string): Promise<Row[]> {
  const before = process.memoryUsage.rss();
  let peak = before;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5);
  const started = performance.now();
  await runWithToolContext({ rootDir, timeoutMs: 60_000 }, () => bashTool("yes").catch(() => undefined));
  clearInterval(watch);
  return [
    { what: "yes, until it is stopped", value: performance.now() - started, unit: "ms", target: 5_000 },
    { what: "memory that it took", value: (peak - before) / 1_048_576, unit: "MB", target: 50 },
  ];
}

/** A patch in the middle of a file, at ten times the size. The ratio is per megabyte, so linear time gives 1. */
async function benchPatch(rootDir: string, inside: Inside): Promise<Row[]> {
  const rows: Row[] = [];
  let base = 0;
  for (const megabytes of [1, 10]) {
    const lines = Math.floor((megabytes * 1_000_000) / LINE.length);
    const times: number[] = [];
    for (let repeat = 0; repeat < 5; repeat += 1) {
      const middle = Math.floor(lines / 2);
      writeFileSync(join(rootDir, "big.txt"), `${LINE.repeat(middle)}here\n${LINE.repeat(lines - middle)}`);
      const patch = `@@ -${middle + 1} +${middle + 1} @@\n-here\n+there\n`;
      const started = performance.now();
      await inside(() => editFileTool("big.txt", patch));
      times.push(performance.now() - started);
    }
    base ||= median(times) / megabytes;
    rows.push({
      what: `edit of a file of ${megabytes} MB`,
      value: median(times),
      unit: "ms",
      ratio: median(times) / megabytes / base,
    });
  }
  return rows;
}

function spawned(command: string): Promise<void> {
  return new Promise((resolve) => spawn(command, { stdio: "ignore" }).once("close", () => resolve()));
}

function repeat(count: number, work: () => void): void {
  for (let index = 0; index < count; index += 1) work();
}

async function repeatAsync(count: number, work: () => Promise<unknown>): Promise<void> {
  for (let index = 0; index < count; index += 1) await work();
}

function pair(
  plain: string,
  ours: string,
  times: ReadonlyMap<string, number>,
  unit: Row["unit"],
  target: number,
): Row[] {
  const [one, other] = [times.get("plain") ?? Number.NaN, times.get("ours") ?? Number.NaN];
  return [
    { what: plain, value: one, unit, ratio: 1 },
    { what: ours, value: other, unit, ratio: other / one, target },
  ];
}
