/** Serialises changes of one file without delaying changes of other files. */
import { fstatSync } from "node:fs";
import { KeyedQueue } from "../../util/keyed-queue.ts";
import type { Directory } from "./path-strategy.ts";

// The only state in this folder. The whole process shares a file, so it has to share its queue too.
const queue = new KeyedQueue();

export async function inTurn<T>(directory: Directory, name: string, task: () => Promise<T>): Promise<T> {
  // By identity, because one folder has many paths.
  const { dev, ino } = fstatSync(directory.descriptor, { bigint: true });
  return queue.run(`${dev}:${ino}/${name}`, task);
}
