/** Lets tasks that share a key happen one after the other, in the order they were asked for. Others are never held up. */
export class Turns {
  readonly #tails = new Map<string, Promise<void>>();

  async take<T>(key: string, task: () => Promise<T>): Promise<T> {
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
