/**
 * The frame of every operation: finds the repository, waits for its turn, and has a private git folder for the time
 * being. The turn is taken before anything is awaited, so that operations happen in the order of their calls.
 */
import type { IsolationMode } from "../sandbox/isolation/tier.ts";
import { KeyedQueue } from "../util/keyed-queue.ts";
import { findRepository, type Repository } from "./find-repository.ts";
import { openPrivateGitDir, type PrivateGitDir } from "./private-git-dir.ts";

// A repository is shared by the whole process, so its queue has to be too.
const queue = new KeyedQueue();

export interface RepositoryTask<T> {
  readonly rootDir: string;
  readonly isolation?: IsolationMode | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly run: (repository: Repository, own: PrivateGitDir) => Promise<T>;
}

/** `undefined` where the root is in no work tree. */
export async function withRepository<T>(task: RepositoryTask<T>): Promise<T | undefined> {
  const { rootDir, signal, isolation = "auto", run } = task;
  const repository = findRepository(rootDir);
  if (repository === undefined) return undefined;
  return queue.run(repository.commonDir, async () => {
    using own = await openPrivateGitDir(repository, { isolation, signal });
    return own === undefined ? undefined : await run(repository, own);
  });
}
