/** Notices commits to a store, including commits of other processes, by polling its version. */
import type { Store } from "./store.ts";

export interface StoreWatch {
  close(): void;
}

export interface WatchOptions {
  /** Default: 100. */
  readonly everyMs?: number | undefined;
  /** The store does not answer. Called once, until it answers again; then `onChange` is called. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

const POLL_MS = 100;

/**
 * Calls `onChange` after commits, at most once per poll. Resolves when the first version is known: what is read afterwards is
 * at least as new. The timer does not keep the program running.
 */
export async function watchStore(
  store: Store,
  onChange: () => void,
  { everyMs = POLL_MS, onError }: WatchOptions = {},
): Promise<StoreWatch> {
  let known = await store.version?.();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let hasFailed = false;
  const poll = async (): Promise<void> => {
    try {
      const version = await store.version?.();
      // A store without versions may have changed at any time.
      const isChanged = version === undefined || version !== known || hasFailed;
      known = version;
      hasFailed = false;
      if (isChanged && !isClosed) onChange();
    } catch (error) {
      if (!hasFailed && !isClosed) onError?.(error);
      hasFailed = true;
    }
    schedule();
  };
  const schedule = (): void => {
    if (!isClosed) timer = setTimeout(() => void poll(), everyMs).unref();
  };
  schedule();
  return {
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
