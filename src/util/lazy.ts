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
