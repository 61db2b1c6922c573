/**
 * Writes a commit and a ref that holds it. Author and committer are always Toolwright: the user's name stands only
 * under what the user did.
 */
import type { PrivateGitDir } from "./private-git-dir.ts";
import { formatMessage, type SnapshotNote } from "./snapshot-message.ts";

export interface CommitRequest {
  readonly ref: string;
  readonly tree: string;
  readonly parent: string | undefined;
  readonly note: SnapshotNote;
}

export async function writeCommit({ git }: PrivateGitDir, request: CommitRequest): Promise<string> {
  const { ref, tree, parent, note } = request;
  const date = `@${Math.floor(note.takenAtMs / 1000)} +0000`;
  const parents = parent === undefined ? [] : ["-p", parent];
  const output = await git(["commit-tree", tree, ...parents], {
    input: formatMessage(note),
    env: { ...IDENTITY, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
  });
  const commit = output.toString().trim();
  await git(["update-ref", "--no-deref", ref, commit]);
  return commit;
}

const IDENTITY = {
  GIT_AUTHOR_NAME: "Toolwright",
  GIT_AUTHOR_EMAIL: "toolwright@localhost",
  GIT_COMMITTER_NAME: "Toolwright",
  GIT_COMMITTER_EMAIL: "toolwright@localhost",
};
