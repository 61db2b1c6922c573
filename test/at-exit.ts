/**
 * Removes what a program has created even if the program ends early, as by a second Ctrl-C. Only synchronous work is
 * possible then.
 */
import { constants } from "node:os";

const registered = new Set<() => void>();

process.once("exit", () => {
  // The latest first: what was created later may use what was created before.
  for (const cleanUp of [...registered].toReversed()) {
    try {
      cleanUp();
    } catch {
      // The others still have to run.
    }
  }
});

/** @returns does the same at once, instead of at the exit */
export function atExit(cleanUp: () => void): () => void {
  registered.add(cleanUp);
  return () => {
    if (registered.delete(cleanUp)) cleanUp();
  };
}

/** By default, a signal ends a process without its exit handlers. */
export function exitOnSignals(...names: readonly NodeJS.Signals[]): void {
  for (const name of names) process.once(name, () => process.exit(exitCodeOf(name)));
}

/** As shells report it. */
export function exitCodeOf(name: NodeJS.Signals): number {
  return 128 + constants.signals[name];
}
