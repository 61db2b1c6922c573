/**
 * Files in the root that no snapshot may contain: the files of stores. The sandbox hides them from an agent, but an
 * agent can read every object of the repository.
 */
import { basename } from "node:path";
import { hasDatabaseName, isStoreFile } from "../sandbox/protection/store-file.ts";
import { toRealPaths } from "../sandbox/process/real-paths.ts";
import type { Repository } from "./find-repository.ts";

/** Takes a path from the top of the work tree, as the Latin-1 form of its bytes. */
export type IsExcluded = (path: string) => boolean;

/** @param storeFiles The files of this runtime's store. */
export function createIsExcluded({ top, root }: Repository, storeFiles: readonly string[]): IsExcluded {
  const named = new Set(
    toRealPaths(storeFiles, [root, root]).flatMap((path) =>
      ["", "-wal", "-shm", "-journal"].map((suffix) => path + suffix),
    ),
  );
  return (path) => {
    if (OF_ANY_RUNTIME.test(path)) return true;
    const file = `${top}/${Buffer.from(path, "latin1").toString("utf8")}`;
    // A store of another runtime may have any name, so check the content.
    return named.has(file) || (hasDatabaseName(basename(file)) && isStoreFile(file));
  };
}

/** The default names. */
const OF_ANY_RUNTIME = /(?:^|\/)(?:\.toolwright(?:\/|$)|toolwright\.db(?:-wal|-shm|-journal)?$)/i;
