/** Retries work that committed nothing: immediately after a conflict, or until the server is back. */
import { isConflict, isUnavailable } from "./errors.ts";

const MOST_CONFLICTS = 20;
const LONGEST_CONFLICT_PAUSE_MS = 20;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 1_000;

/** @param retryMs how long the server may be away */
export async function runAgain<T>(action: () => Promise<T>, retryMs: number): Promise<T> {
  const deadline = performance.now() + retryMs;
  let conflicts = 0;
  for (let pauseMs = FIRST_PAUSE_MS; ;) {
    try {
      return await action();
    } catch (error) {
      if (isConflict(error)) {
        conflicts += 1;
        if (conflicts >= MOST_CONFLICTS) throw error;
        await pause(Math.random() * LONGEST_CONFLICT_PAUSE_MS);
      } else {
        if (!isUnavailable(error) || performance.now() + pauseMs > deadline) throw error;
        // With jitter: all processes lost the server at the same moment.
        await pause(pauseMs * (0.5 + Math.random()));
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
    }
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
