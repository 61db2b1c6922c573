/**
 * A module that is loaded when it is first needed. Importing the package then costs little, and the first call pays.
 * Whoever asks before it is there waits in line: those who came first go on first.
 */
export class Lazy<T> {
  readonly #load: () => Promise<T>;
  #loading: Promise<T> | undefined;
  #value: T | undefined;

  constructor(load: () => Promise<T>) {
    this.#load = load;
  }

  /** What was loaded, once nobody waits for it any more. */
  get value(): T | undefined {
    return this.#value;
  }

  get isAsked(): boolean {
    return this.#loading !== undefined;
  }

  get(): Promise<T> {
    this.#loading ??= this.#load().then((loaded) => {
      // Only in a later turn: a call that is made now must not overtake those that are waiting.
      setImmediate(() => {
        this.#value = loaded;
      });
      return loaded;
    });
    return this.#loading;
  }
}

/**
 * A module of this package, or one that it depends on, that is loaded when it is needed, and at the latest before a tool
 * may change files: a tool must not be able to change what this process is about to run.
 */
export function lazyModule<T>(load: () => Promise<T>): Lazy<T> {
  const lazy = new Lazy(load);
  waiting.push(lazy);
  return lazy;
}

// One list for the process, since it is the process that is to be kept from loading changed files.
const waiting: Lazy<unknown>[] = [];
let loading: Promise<void> | undefined;

/** Loads all that is waiting. Undefined when there is nothing, so that a call need not wait. */
export function loadLazyModules(): Promise<void> | undefined {
  if (loading === undefined && waiting.length === 0) return undefined;
  return (loading ??= loadWaiting().finally(() => (loading = undefined)));
}

async function loadWaiting(): Promise<void> {
  // What is loaded may wait for modules of its own.
  while (waiting.length > 0) {
    const modules = waiting.splice(0);
    // One that cannot be loaded, such as a peer that is not installed, says so to whoever needs it.
    await Promise.allSettled(modules.map((lazy) => lazy.get()));
  }
}
