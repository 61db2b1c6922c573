/** When a schedule fires. Cron lines are read by the package croner, which is loaded with the first schedule. */
import type { Cron } from "croner";
import { Problem } from "../definition/option-checks.ts";
import { messageOf } from "../invoke/error-record.ts";
import { lazyModule } from "../util/lazy.ts";

const croner = lazyModule(() => import("croner"));

/** The fields of a schedule that determine its times. */
export interface Rhythm {
  readonly cron: string | null;
  readonly everyMs: number | null;
  readonly tz: string;
  readonly setAtMs: number;
}

export interface Times {
  /** The first time after this moment; `null` if there is none. */
  after(ms: number): number | null;
  /** The last time up to this moment; `null` if there is none. */
  upTo(ms: number): number | null;
}

/** @throws Problem for a cron line or a time zone that does not parse */
export async function timesOf(rhythm: Rhythm): Promise<Times> {
  const { cron, everyMs, tz } = rhythm;
  if (everyMs !== null) return periodic(rhythm.setAtMs, everyMs);
  const { Cron } = await croner.get();
  checkTimeZone(tz);
  return cronTimes(parse(Cron, cron ?? "", tz));
}

function periodic(setAtMs: number, everyMs: number): Times {
  const timeOf = (count: number): number => setAtMs + count * everyMs;
  return {
    // Before `setAtMs` only if the clock was set back.
    after: (ms) => timeOf(Math.floor((ms - setAtMs) / everyMs) + 1),
    upTo: (ms) => {
      const count = Math.floor((ms - setAtMs) / everyMs);
      return count < 1 ? null : timeOf(count);
    },
  };
}

function parse(type: typeof Cron, line: string, timezone: string): Cron {
  try {
    return new type(line, { timezone, paused: true });
  } catch (error) {
    const reason = messageOf(error).replace(/^CronPattern: /, "");
    throw new Problem("cron", `does not parse: ${reason} An example: "0 3 * * *" is every day at 03:00.`);
  }
}

function checkTimeZone(tz: string): void {
  try {
    Intl.DateTimeFormat("en", { timeZone: tz });
  } catch {
    throw new Problem("tz", `must be a time zone such as "Europe/Berlin", not ${JSON.stringify(tz)}.`);
  }
}

function cronTimes(cron: Cron): Times {
  return {
    after: (ms) => cron.nextRun(new Date(ms))?.getTime() ?? null,
    // Cron lines count whole seconds, and the last time must be before the given one.
    upTo: (ms) =>
      cron.previousRuns(1, new Date(Math.floor(ms / 1_000) * 1_000 + 1_000))[0]?.getTime() ?? null,
  };
}
