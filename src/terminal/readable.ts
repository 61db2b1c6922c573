/** Durations, ages and values as short text for people. */
import { toShownText } from "../util/shown-value.ts";

export function toDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60
    ? `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const AGE_UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
] as const;

/** In the largest unit that fits, such as "3 h ago". */
export function toAge(ms: number, now: number = Date.now()): string {
  // A time in the future means that the clock was set back: show it as now.
  const age = Math.max(0, now - ms);
  if (age < 60_000) return `${toDuration(age)} ago`;
  const [unit, length] = AGE_UNITS.find(([, ms]) => age >= ms) ?? AGE_UNITS[2];
  return `${Math.floor(age / length)} ${unit} ago`;
}

/** A value on one line, cut to `longest` characters. */
export function toShortText(value: unknown, longest = 100): string {
  const text = value === undefined ? "" : toShownText(value);
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= longest ? line : `${line.slice(0, longest - 1)}…`;
}
