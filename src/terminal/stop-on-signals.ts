/**
 * Turns SIGINT, SIGTERM and SIGHUP into an abort, so that running work can stop cleanly. A second signal exits
 * immediately.
 */

/** Process managers usually wait ten seconds between SIGTERM and SIGKILL. */
const GRACE_MS = 5_000;

export interface Stop extends Disposable {
  readonly signal: AbortSignal;
  /** The first signal, if one arrived. */
  readonly received: NodeJS.Signals | undefined;
}

export interface StopOptions {
  onFirst(name: NodeJS.Signals): void;
  /** The work did not stop in time, and the process exits. */
  onOverdue(): void;
  exitCode(name: NodeJS.Signals): number;
  /** How long the work may take to stop. Default 5,000. */
  readonly graceMs?: number | undefined;
}

export function stopOnSignals(options: StopOptions): Stop {
  const controller = new AbortController();
  let received: NodeJS.Signals | undefined;
  const onSignal = (name: NodeJS.Signals): void => {
    // Every started call is logged, so exiting immediately is a crash that a resume can handle.
    if (controller.signal.aborted) process.exit(options.exitCode(name));
    received = name;
    options.onFirst(name);
    controller.abort(new Error(`stopped by ${name}`));
    setTimeout(() => {
      options.onOverdue();
      process.exit(options.exitCode(name));
    }, options.graceMs ?? GRACE_MS).unref();
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
