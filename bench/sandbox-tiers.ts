/** A sandboxed `true` in each tier that works here, against a plain spawn. */
import { spawn } from "node:child_process";
import { createIsolation, type Isolation } from "../src/sandbox/tiers/isolation.ts";
import { runCommand } from "../src/sandbox/process/run-command.ts";
import { bwrap } from "../src/sandbox/tiers/bwrap.ts";
import { landlock } from "../src/sandbox/tiers/landlock.ts";
import type { Tier } from "../src/sandbox/tiers/tier.ts";
import { unshare } from "../src/sandbox/tiers/unshare.ts";
import type { Row } from "./bench.ts";
import { compare } from "./measure.ts";

/** The limit for a command, as a multiple of a plain spawn. */
const TARGETS: readonly (readonly [Tier, number])[] = [
  [bwrap, 5],
  [unshare, 8],
  [landlock, 8],
];

export async function benchTiers(rootDir: string): Promise<Row[]> {
  const working = await findWorking();
  const times = await compare(
    [
      { name: "plain", round: (_from, count) => repeat(count, plainTrue) },
      ...working.map(({ tier, on }) => ({
        name: tier.name,
        round: (_from: number, count: number) => repeat(count, () => confinedTrue(rootDir, on)),
      })),
    ],
    { rounds: 16, count: 8 },
  );
  const plain = times.get("plain") ?? Number.NaN;
  return [
    { what: "spawn of true", value: plain, unit: "µs", ratio: 1 },
    ...working.map(({ tier, target }): Row => {
      const value = times.get(tier.name) ?? Number.NaN;
      return { what: `true, confined by ${tier.name}`, value, unit: "µs", ratio: value / plain, target };
    }),
  ];
}

interface Working {
  readonly tier: Tier;
  readonly on: Isolation;
  readonly target: number;
}

async function findWorking(): Promise<Working[]> {
  const found: Working[] = [];
  for (const [tier, target] of TARGETS) {
    const on = createIsolation({ path: () => process.env["PATH"], warn: () => {}, tiers: [tier] });
    if ((await on.describe()).tier === tier.name) found.push({ tier, on, target });
  }
  return found;
}

async function repeat(count: number, work: () => Promise<unknown>): Promise<void> {
  for (let index = 0; index < count; index += 1) await work();
}

function plainTrue(): Promise<void> {
  return new Promise((done) => spawn("true", { stdio: "ignore" }).once("close", () => done()));
}

function confinedTrue(rootDir: string, on: Isolation): Promise<unknown> {
  return runCommand({
    cmd: "true",
    args: [],
    rootDir,
    on,
    allowNetwork: false,
    maxOutputBytes: 200_000,
    timeoutMs: 60_000,
    isolation: "auto",
  });
}
