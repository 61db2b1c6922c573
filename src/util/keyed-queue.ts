/** Runs tasks that share a key one after another, in the order of the calls. Tasks with different keys never wait. */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<void>>();

  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const { promise: done, resolve } = Promise.withResolvers<void>();
    this.#tails.set(key, done);
    try {
      if (before !== undefined) await before;
      return await task();
    } finally {
      resolve();
      if (this.#tails.get(key) === done) this.#tails.delete(key);
    }
  }
}
