/** Which commits are snapshots that Toolwright took. Refs are not proof of that: an agent can write them. */
import { readText } from "./columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { columns, integer, type RowOf, text } from "./table.ts";

const SNAPSHOTS = columns({
  /** The run id, followed by the task or attempt where there is more than one. */
  name: text("name"),
  seq: integer("seq"),
  runId: text("run_id"),
  gitDir: text("git_dir"),
  commit: text("commit_id"),
  noteJson: text("note_json"),
  /** The hash of the index that was saved for the next snapshot. */
  indexHash: text("index_hash"),
  takenAtMs: integer("taken_at_ms"),
});

export type SnapshotRow = RowOf<(typeof SNAPSHOTS)["map"]>;

const SAVE = `INSERT INTO toolwright_snapshots (${SNAPSHOTS.list()}) VALUES (${SNAPSHOTS.parameters()})
ON CONFLICT (name, seq) DO UPDATE SET ${SNAPSHOTS.omit("name", "seq").excluded()}`;

const READ = `SELECT ${SNAPSHOTS.list()} FROM toolwright_snapshots WHERE name = ?1 AND seq = ?2`;

const LIST = `SELECT ${SNAPSHOTS.list()} FROM toolwright_snapshots
WHERE CAST(?1 AS TEXT) IS NULL OR name = ?1 ORDER BY name, seq`;

/** Replaces a snapshot of the same number. */
export function saveSnapshot(row: SnapshotRow): Transaction<number> {
  return change(SAVE, ...SNAPSHOTS.values(row));
}

export function* readSnapshot(name: string, seq: number): Transaction<SnapshotRow | undefined> {
  const row = yield* first(READ, name, seq);
  return row === undefined ? undefined : SNAPSHOTS.parse(row);
}

/** All snapshots, or the snapshots of one name. */
export function* listSnapshots(name: string | null): Transaction<SnapshotRow[]> {
  return (yield* all(LIST, name)).map(SNAPSHOTS.parse);
}

/** The hash of the index that the last snapshot in this git folder saved. */
export function* readIndexHash(gitDir: string): Transaction<string | undefined> {
  const row = yield* first(
    `SELECT index_hash FROM toolwright_snapshots WHERE git_dir = ?1
     ORDER BY taken_at_ms DESC, seq DESC LIMIT 1`,
    gitDir,
  );
  return row === undefined ? undefined : readText(row, "index_hash");
}

export function deleteSnapshots(name: string): Transaction<number> {
  return change("DELETE FROM toolwright_snapshots WHERE name = ?1", name);
}
