/** Reads the refs that are named like snapshots. The store decides which of them are snapshots. */
import type { PrivateGitDir } from "./private-git-dir.ts";
import { seqOf } from "./snapshot-ref.ts";

export interface SnapshotRef {
  readonly ref: string;
  readonly seq: number;
  readonly commit: string;
}

/** Refs whose name starts with `prefix`, which ends in a slash. Ordered by run, then by number. */
export async function readSnapshotRefs({ reading }: PrivateGitDir, prefix: string): Promise<SnapshotRef[]> {
  const output = await reading.git(["for-each-ref", `--format=${FORMAT}`, prefix]);
  return output
    .toString("utf8")
    .split("\n")
    .flatMap((line) => {
      const [ref = "", commit = "", type] = line.split(" ");
      const seq = seqOf(ref);
      return seq === undefined || type !== "commit" ? [] : [{ ref, seq, commit }];
    })
    .sort((a, b) => compare(folderOf(a.ref), folderOf(b.ref)) || a.seq - b.seq);
}

const FORMAT = "%(refname) %(objectname) %(objecttype)";

function folderOf(ref: string): string {
  return ref.slice(0, ref.lastIndexOf("/"));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
