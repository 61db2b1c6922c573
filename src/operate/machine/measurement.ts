/** One measurement of this machine, with advice if it is slow. */
import { setImmediate as turn } from "node:timers/promises";

export interface Measurement {
  readonly name: "round-trip" | "commit" | "commit-full" | "call" | "side-effect" | "sandbox";
  /** The median in milliseconds; `null` if it could not be measured. */
  readonly ms: number | null;
  readonly samples: number;
  /** `note`: slow, or not measured. */
  readonly status: "ok" | "note";
  readonly detail: string;
  readonly remedy: string | null;
}

export interface Judgement {
  readonly name: Measurement["name"];
  /** What was measured, such as "one call". */
  readonly what: string;
  /** Above this, the advice is given. */
  readonly slowMs: number;
  readonly advice: string;
}

export interface Samples {
  readonly medianMs: number;
  readonly count: number;
}

const MOST_SAMPLES = 2_000;

/** For one measurement. */
export interface Budget {
  readonly ms: number;
  /** When all measurements should be done, on the clock of `performance.now()`. */
  readonly untilMs?: number | undefined;
  /** Stops between two samples, so that the measurement can clean up. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Repeats the work until the budget is used up, at least three times: that is more than the budget if the work takes long.
 * @throws the reason of the signal
 */
export async function sample(
  { ms, untilMs = Infinity, signal }: Budget,
  work: () => unknown,
): Promise<Samples> {
  const times: number[] = [];
  // The first one opens, compiles and connects.
  await work();
  const endMs = Math.min(performance.now() + ms, untilMs);
  while (times.length < 3 || (performance.now() < endMs && times.length < MOST_SAMPLES)) {
    // Without a turn of the event loop no signal arrives.
    await turn();
    signal?.throwIfAborted();
    const from = performance.now();
    await work();
    times.push(performance.now() - from);
  }
  times.sort((one, other) => one - other);
  return { medianMs: times[Math.floor(times.length / 2)] ?? Number.NaN, count: times.length };
}

export function judge({ name, what, slowMs, advice }: Judgement, { medianMs, count }: Samples): Measurement {
  const isSlow = medianMs > slowMs;
  const detail = `${formatMs(medianMs)} for ${what}, the median of ${count}`;
  return {
    name,
    ms: medianMs,
    samples: count,
    status: isSlow ? "note" : "ok",
    detail: isSlow ? `${detail}: slower than ${formatMs(slowMs)}` : detail,
    remedy: isSlow ? advice : null,
  };
}

export function notMeasured(
  name: Measurement["name"],
  reason: string,
  remedy: string | null = null,
): Measurement {
  return { name, ms: null, samples: 0, status: "note", detail: `not measured: ${reason}`, remedy };
}

function formatMs(ms: number): string {
  return ms < 0.1 ? `${Math.round(ms * 1_000)} µs` : `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;
}
