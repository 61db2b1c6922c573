/**
 * Lets changes of one file happen one after the other, in the order they were asked for. Must never hold up changes
 * of other files.
 */
import { fstatSync } from "node:fs";
import type { Directory } from "./path-strategy.ts";

// The one state of this folder. A file is shared by the whole process, so its queue has to be too.
const tails = new Map<string, Promise<void>>();

export async function inTurn<T>(directory: Directory, name: string, task: () => Promise<T>): Promise<T> {
  // By identity, since one folder has many paths.
  const { dev, ino } = fstatSync(directory.descriptor, { bigint: true });
  const key = `${dev}:${ino}/${name}`;
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
