/**
 * Writes the staged content as a commit, and stores it in the repository with a ref. Author and committer are always
 * Toolwright, because the user's name belongs only on the user's own commits.
 */
import { join } from "node:path";
import { quoted } from "../terminal/terminal-text.ts";
import type { Repository } from "./find-repository.ts";
import { describeIndex, keepIndex } from "./index-cache.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import { gitCommand } from "./run-git.ts";
import { formatMessage, type SnapshotNote } from "./snapshot-message.ts";

export interface CommitRequest {
  readonly ref: string;
  /** Candidates: the first that exists becomes the parent. */
  readonly parents: readonly (string | undefined)[];
  readonly note: SnapshotNote;
}

export interface StoredCommit {
  readonly commit: string;
  readonly indexHash: string;
}

export async function writeCommit(
  repository: Repository,
  own: PrivateGitDir,
  { ref, parents, note }: CommitRequest,
): Promise<StoredCommit> {
  const { reading, storing, index } = own;
  const date = `@${Math.floor(note.takenAtMs / 1000)} +0000`;
  const pack = join(own.folder, "new");
  const output = await reading.shell("git commit-tree", commitScript(own, parents, pack), {
    input: formatMessage(note),
    env: { ...IDENTITY, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
  });
  const [commit = "", name = "", count = ""] = output.toString().trim().split("\n");
  // Git unpacks the pack and computes the id of each object, so no half-written object can result.
  const unpack = Number(count) > KEEP_PACKED ? ["index-pack", "--stdin"] : ["unpack-objects", "-q"];
  const inputFile = `${pack}-${name}.pack`;
  const indexHash = describeIndex(index);
  await storing.shell(
    "git update-ref",
    [
      `${gitCommand(storing.setup, unpack)} >&2`,
      gitCommand(storing.setup, ["update-ref", "--no-deref", ref, commit]),
      keepIndex(repository.gitDir, index),
    ].join(" && "),
    { inputFile },
  );
  return { commit, indexHash };
}

/** Above this number, loose objects would slow the repository down. */
const KEEP_PACKED = 1_000;

/** Prints the id of the commit, the name of the pack with all new objects, and their number. */
function commitScript(
  { reading: { setup }, objects, folder }: PrivateGitDir,
  parents: readonly (string | undefined)[],
  pack: string,
): string {
  const git = gitCommand(setup, []);
  const list = quoted(join(folder, "new-objects"));
  const candidates = parents.flatMap((id) => (id === undefined ? [] : [quoted(id)]));
  return [
    "set -e",
    `tree=$(${git} write-tree)`,
    "set --",
    ...candidates.map(
      (id) => `if [ $# -eq 0 ] && ${git} cat-file -e ${id}'^{commit}' 2>/dev/null; then set -- -p ${id}; fi`,
    ),
    `${git} commit-tree "$tree" "$@"`,
    `cd ${quoted(objects)}`,
    `find . -type f | sed -n 's:^\\./\\([0-9a-f][0-9a-f]\\)/\\([0-9a-f]*\\)$:\\1\\2:p' >${list}`,
    `${git} pack-objects -q --window=0 ${quoted(pack)} <${list}`,
    `wc -l <${list}`,
  ].join("\n");
}

const IDENTITY = {
  GIT_AUTHOR_NAME: "Toolwright",
  GIT_AUTHOR_EMAIL: "toolwright@localhost",
  GIT_COMMITTER_NAME: "Toolwright",
  GIT_COMMITTER_EMAIL: "toolwright@localhost",
};
