/** Turns SIGINT, SIGTERM and SIGHUP into an abort, so that what runs is left as it should be. The second one leaves at once. */

/** Whoever sends SIGTERM seldom waits longer than ten seconds. */
const GRACE_MS = 5_000;

export interface Stop extends Disposable {
  readonly signal: AbortSignal;
  /** The one that came, if any. */
  readonly received: NodeJS.Signals | undefined;
}

export interface StopOptions {
  onFirst(name: NodeJS.Signals): void;
  /** What runs does not stop, and is left. */
  onOverdue(): void;
  exitCode(name: NodeJS.Signals): number;
}

export function stopOnSignals(options: StopOptions): Stop {
  const controller = new AbortController();
  let received: NodeJS.Signals | undefined;
  const onSignal = (name: NodeJS.Signals): void => {
    // Every call that has begun is on record: leaving at once is a crash, which a resume is made for.
    if (controller.signal.aborted) process.exit(options.exitCode(name));
    received = name;
    options.onFirst(name);
    controller.abort(new Error(`stopped by ${name}`));
    setTimeout(() => {
      options.onOverdue();
      process.exit(options.exitCode(name));
    }, GRACE_MS).unref();
  };
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const name of names) process.on(name, onSignal);
  return {
    signal: controller.signal,
    get received() {
      return received;
    },
    [Symbol.dispose]: () => {
      for (const name of names) process.off(name, onSignal);
    },
  };
}
