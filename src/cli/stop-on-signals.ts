/** Turns SIGINT and SIGTERM into an abort, so that a run is left where it can go on. The second one leaves at once. */

/** Whoever sends SIGTERM seldom waits longer than ten seconds. */
const GRACE_MS = 5_000;

export interface Stop extends Disposable {
  readonly signal: AbortSignal;
}

export function stopOnSignals(onFirst: (name: string) => void): Stop {
  const controller = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    // Every call that has begun is on record: leaving at once is a crash, which a resume is made for.
    if (controller.signal.aborted) process.exit(1);
    onFirst(name);
    controller.abort(new Error(`stopped by ${name}`));
    setTimeout(() => {
      process.stderr.write("toolwright: what runs does not stop; leaving it. The run can be resumed.\n");
      process.exit(1);
    }, GRACE_MS).unref();
  };
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const name of names) process.on(name, onSignal);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      for (const name of names) process.off(name, onSignal);
    },
  };
}
