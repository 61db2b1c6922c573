/**
 * Times work in small alternating rounds, so that noise on the machine affects all contenders alike. Reports medians.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atExit } from "../test/at-exit.ts";

export interface Contender {
  readonly name: string;
  /** Runs `count` operations. `from` keeps increasing, so that no two operations of a contender are the same. */
  round(from: number, count: number): Promise<void> | void;
}

/** Microseconds per operation, by name. */
export async function compare(
  contenders: readonly Contender[],
  options: {
    readonly rounds: number;
    readonly count: number;
    /** Which round counts. Default: the median. The fastest one suits small differences on a busy machine. */
    readonly pick?: "median" | "fastest";
  },
): Promise<Map<string, number>> {
  const times = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round < options.rounds; round += 1) {
    for (const [index] of contenders.entries()) {
      // Rotate the order: a garbage collection once per round must not always hit the same contender.
      const contender = contenders[(index + round) % contenders.length] as Contender;
      const started = performance.now();
      await contender.round(round * options.count, options.count);
      times.get(contender.name)?.push(((performance.now() - started) * 1_000) / options.count);
    }
  }
  // The first rounds are warm-up.
  const pick = options.pick === "fastest" ? (all: number[]): number => Math.min(...all) : median;
  return new Map([...times].map(([name, all]) => [name, pick(all.slice(Math.floor(options.rounds / 4)))]));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-bench-"));
  const remove = atExit(() => rmSync(folder, { recursive: true, force: true }));
  try {
    return await work(folder);
  } finally {
    remove();
  }
}
