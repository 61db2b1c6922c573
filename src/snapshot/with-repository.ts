/**
 * The frame of every operation: finds the repository, waits for its turn, and has a private git folder for the time
 * being. The turn is taken before anything is awaited, so that operations happen in the order of their calls.
 */
import { Turns } from "../util/turns.ts";
import { findRepository, type Repository } from "./find-repository.ts";
import { openPrivateGitDir, type PrivateGitDir } from "./private-git-dir.ts";
import { readSettings } from "./repository-settings.ts";

// The one state of this folder. A repository is shared by the whole process, so its queue has to be too.
const turns = new Turns();

export interface RepositoryTask<T> {
  readonly rootDir: string;
  readonly signal?: AbortSignal | undefined;
  readonly run: (repository: Repository, own: PrivateGitDir) => Promise<T>;
}

/** `undefined` where the root is in no work tree. */
export async function withRepository<T>({ rootDir, signal, run }: RepositoryTask<T>): Promise<T | undefined> {
  const repository = findRepository(rootDir);
  if (repository === undefined) return undefined;
  const { gitDir, commonDir } = repository;
  return turns.take(commonDir, async () => {
    const settings = await readSettings(repository, signal);
    // A linked work tree of a bare repository is one all the same.
    if (settings.isBare && commonDir === gitDir) return undefined;
    using own = openPrivateGitDir(repository, settings, signal);
    return await run(repository, own);
  });
}
