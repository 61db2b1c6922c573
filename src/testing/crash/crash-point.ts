/** Crash points: the named moments of a call at which a test can kill its program with SIGKILL. */

/**
 * - `before-intent`: inside the transaction that starts the call, before its commit; a pure call has none
 * - `after-intent`: the intent, if any, is committed; `execute` has not started
 * - `in-effect`: where the tool calls `reachCrashPoint("in-effect")`
 * - `after-effect`: `execute` has ended, the outcome is not committed
 * - `after-outcome`: the outcome is committed, but not yet returned
 */
export const CRASH_POINTS = [
  "before-intent",
  "after-intent",
  "in-effect",
  "after-effect",
  "after-outcome",
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

/** Names the crash point for the program: `<point>:<n>`, for the n-th time that it is reached. Counted down. */
export const CRASH_VARIABLE = "TOOLWRIGHT_CRASH_AT";

/**
 * Kills the process if the test chose this crash point; does nothing outside such a test. A tool calls it in the middle of its
 * effect; `createCrashableRuntime` calls it for the other points.
 */
export function reachCrashPoint(point: CrashPoint): void {
  const [wanted, times] = (process.env[CRASH_VARIABLE] ?? "").split(":");
  if (wanted !== point) return;
  const left = Number(times) - 1;
  // SIGKILL cannot be caught: no handler, no `finally` and no flush runs after it.
  if (left === 0) process.kill(process.pid, "SIGKILL");
  process.env[CRASH_VARIABLE] = `${point}:${left}`;
}
