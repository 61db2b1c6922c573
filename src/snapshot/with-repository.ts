/**
 * Wraps every snapshot operation: finds the repository, waits in its queue, and opens a private git folder for the
 * duration. It enters the queue before the first await, so that operations run in the order of their calls.
 */
import type { IsolationMode } from "../sandbox/tiers/isolation-tier.ts";
import { KeyedQueue } from "../util/keyed-queue.ts";
import { findRepository, type Repository } from "./find-repository.ts";
import { openPrivateGitDir, type PrivateGitDir } from "./private-git-dir.ts";

// The whole process shares a repository, so it has to share its queue too.
const queue = new KeyedQueue();

export interface RepositoryTask<T> {
  readonly rootDir: string;
  readonly isolation?: IsolationMode | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly run: (repository: Repository, own: PrivateGitDir) => Promise<T>;
}

/** `undefined` if the root is not in a work tree. */
export async function withRepository<T>(task: RepositoryTask<T>): Promise<T | undefined> {
  const { rootDir, signal, isolation = "auto", run } = task;
  const repository = findRepository(rootDir);
  if (repository === undefined) return undefined;
  return queue.run(repository.commonDir, async () => {
    using own = await openPrivateGitDir(repository, { isolation, signal });
    return own === undefined ? undefined : await run(repository, own);
  });
}
