/**
 * A module that is loaded when it is first needed, so that importing the package is cheap and the first call pays. Callers
 * that need it before it is loaded wait, and continue in order.
 */
export class Lazy<T> {
  readonly #load: () => Promise<T>;
  #loading: Promise<T> | undefined;
  #value: T | undefined;

  constructor(load: () => Promise<T>) {
    this.#load = load;
  }

  /** The loaded value, set once all waiting callers have continued. */
  get value(): T | undefined {
    return this.#value;
  }

  get isRequested(): boolean {
    return this.#loading !== undefined;
  }

  get(): Promise<T> {
    this.#loading ??= this.#load().then((loaded) => {
      // In a later turn: a new call must not overtake waiting calls.
      setImmediate(() => {
        this.#value = loaded;
      });
      return loaded;
    });
    return this.#loading;
  }
}

/**
 * A module of this package or of a dependency. It is loaded when it is needed, and at the latest before a tool may change
 * files: a tool must not be able to change code that this process will load.
 */
export function lazyModule<T>(load: () => Promise<T>): Lazy<T> {
  const lazy = new Lazy(load);
  waiting.push(lazy);
  return lazy;
}

// One list for the process, since the process must not load changed files.
const waiting: Lazy<unknown>[] = [];
let loading: Promise<void> | undefined;

/** Loads all registered modules. `undefined` when there is nothing to load, so that a call need not wait. */
export function loadLazyModules(): Promise<void> | undefined {
  if (loading === undefined && waiting.length === 0) return undefined;
  return (loading ??= loadWaiting().finally(() => (loading = undefined)));
}

async function loadWaiting(): Promise<void> {
  // A loaded module may register further ones.
  while (waiting.length > 0) {
    const modules = waiting.splice(0);
    // A module that fails to load, such as a missing peer, reports the error to the code that needs it.
    await Promise.allSettled(modules.map((lazy) => lazy.get()));
  }
}
