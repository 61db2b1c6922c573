/**
 * Lets the operations on one repository happen one after the other, in the order they were asked for. Must never
 * hold up those on another.
 */

// The one state of this folder. A repository is shared by the whole process, so its queue has to be too.
const tails = new Map<string, Promise<void>>();

export async function inTurn<T>(key: string, task: () => Promise<T>): Promise<T> {
  const before = tails.get(key);
  const { promise: done, resolve } = Promise.withResolvers<void>();
  tails.set(key, done);
  try {
    await before;
    return await task();
  } finally {
    resolve();
    if (tails.get(key) === done) tails.delete(key);
  }
}
