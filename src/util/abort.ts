/** Reactions to abort signals. */

interface Listening {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

const listening = new WeakMap<AbortSignal, Listening>();

/**
 * Calls back when the signal is aborted. Node compares each new listener of a signal with all those before it, so the cost of
 * a thousand calls under one signal would grow with their square. Here, each signal has one listener.
 * @param callback must be a new function, and must not throw
 * @returns removes the callback
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const { callbacks, listener } = listening.get(signal) ?? listenTo(signal);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size > 0) return;
    // A listener keeps a signal that was joined from others in memory.
    signal.removeEventListener("abort", listener);
    listening.delete(signal);
  };
}

function listenTo(signal: AbortSignal): Listening {
  const callbacks = new Set<() => void>();
  const listener = (): void => {
    for (const callback of callbacks) callback();
  };
  signal.addEventListener("abort", listener, { once: true });
  const entry = { callbacks, listener };
  listening.set(signal, entry);
  return entry;
}

/** Resolves when `promise` settles or the signal is aborted, whichever is first. Never rejects. */
export async function untilAborted(
  promise: Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const settled = promise.then(
    () => undefined,
    () => undefined,
  );
  if (signal === undefined) return settled;
  if (signal.aborted) return;
  const aborted = Promise.withResolvers<void>();
  const stopListening = onAbort(signal, () => aborted.resolve());
  await Promise.race([settled, aborted.promise]);
  stopListening();
}
