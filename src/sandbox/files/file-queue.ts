/** Lets changes of one file happen one after the other, and never holds up changes of other files. */
import { fstatSync } from "node:fs";
import { KeyedQueue } from "../../util/keyed-queue.ts";
import type { Directory } from "./path-strategy.ts";

// The one state of this folder. A file is shared by the whole process, so its queue has to be too.
const queue = new KeyedQueue();

export async function inTurn<T>(directory: Directory, name: string, task: () => Promise<T>): Promise<T> {
  // By identity, since one folder has many paths.
  const { dev, ino } = fstatSync(directory.descriptor, { bigint: true });
  return queue.run(`${dev}:${ino}/${name}`, task);
}
