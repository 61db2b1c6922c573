/** Durations and dates of waits. */

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** A hundred years. The end of every wait is then a valid date. */
export const LONGEST_WAIT_MS = 36_525 * 86_400_000;

export const DURATION_WORDS = 'a duration such as "90s", "2h" or "1d 12h", up to 100 years,';

const WHOLE = /^(?:\d+(?:\.\d+)?\s*(?:ms|s|m|h|d|w)\s*)+$/;
const PART = /(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)/g;

/** In whole milliseconds. A number counts as milliseconds. `undefined` for anything that is not a duration. */
export function parseDuration(value: unknown): number | undefined {
  const ms = typeof value === "string" ? sumOf(value.trim()) : value;
  if (typeof ms !== "number" || !(ms >= 0) || ms > LONGEST_WAIT_MS) return undefined;
  return Math.ceil(ms);
}

function sumOf(text: string): number | undefined {
  if (!WHOLE.test(text)) return undefined;
  return [...text.matchAll(PART)].reduce(
    (sum, [, amount = "", unit = ""]) => sum + Number(amount) * (UNITS[unit] ?? Number.NaN),
    0,
  );
}

/** Milliseconds since 1970. `undefined` for anything that is not a date. */
export function toMoment(value: unknown): number | undefined {
  const ms = value instanceof Date ? value.getTime() : value;
  if (typeof ms !== "number" || Number.isNaN(new Date(ms).getTime())) return undefined;
  return Math.ceil(ms);
}
