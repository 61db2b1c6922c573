/** The named moments of a call at which a program can be made to die, and how it dies there: by SIGKILL, at once. */

/**
 * - `before-intent`: inside the transaction that begins the call, before its commit; a pure call has none
 * - `after-intent`: the intent, where there is one, is committed; `execute` has not been entered
 * - `in-effect`: where the tool says so, by `reachCrashPoint("in-effect")`
 * - `after-effect`: `execute` has ended, the outcome is not committed
 * - `after-outcome`: the outcome is committed, nobody has been told
 */
export const CRASH_POINTS = [
  "before-intent",
  "after-intent",
  "in-effect",
  "after-effect",
  "after-outcome",
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

/** How the test tells its program where to die: `<point>:<n>`, at the n-th time that it gets there. Counted down. */
export const CRASH_VARIABLE = "TOOLWRIGHT_CRASH_AT";

/**
 * Dies here, if this is where the test wants the program to die; does nothing in a program that runs by itself.
 * A tool calls it in the middle of its effect; the other points are found by `createCrashableRuntime`.
 */
export function reachCrashPoint(point: CrashPoint): void {
  const [wanted, times] = (process.env[CRASH_VARIABLE] ?? "").split(":");
  if (wanted !== point) return;
  const left = Number(times) - 1;
  // The signal that cannot be caught: no handler, no `finally`, no flush runs after it.
  if (left === 0) process.kill(process.pid, "SIGKILL");
  process.env[CRASH_VARIABLE] = `${point}:${left}`;
}
