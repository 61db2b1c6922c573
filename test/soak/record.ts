/** The results of several soaks in one file, one line each: `npm run soak -- --record FILE` adds to it. */
import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import type { SoakResult } from "./soak.ts";

const recordedSoak = z.object({
  /** When it ended. */
  at: z.iso.datetime(),
  seed: z.number(),
  minutes: z.number(),
  stores: z.array(z.enum(["sqlite", "postgres"])),
  seconds: z.number(),
  counts: z.record(z.string(), z.number()),
  /** How many were found. */
  faults: z.number(),
});
export type RecordedSoak = z.output<typeof recordedSoak>;

export function toRecord(result: SoakResult, minutes: number, at: Date): RecordedSoak {
  const { seed, stores, seconds, counts, faults } = result;
  return { at: at.toISOString(), seed, minutes, stores: [...stores], seconds, counts, faults: faults.length };
}

/** @throws if a line is not a result of a soak */
export function readRecord(file: string): RecordedSoak[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.flatMap((line, index) => (line === "" ? [] : [parseLine(line, index + 1)]));
}

function parseLine(line: string, number: number): RecordedSoak {
  try {
    return recordedSoak.parse(JSON.parse(line));
  } catch (error) {
    throw new Error(`line ${number} is not a result of a soak`, { cause: error });
  }
}

export interface Total {
  readonly soaks: number;
  readonly seconds: number;
  readonly kills: number;
  readonly faults: number;
}

export function totalOf(soaks: readonly RecordedSoak[]): Total {
  const sum = (read: (soak: RecordedSoak) => number): number =>
    soaks.reduce((before, soak) => before + read(soak), 0);
  return {
    soaks: soaks.length,
    seconds: sum(({ seconds }) => seconds),
    kills: sum(({ counts }) => counts["kills"] ?? 0),
    faults: sum(({ faults }) => faults),
  };
}
