/** Which commits are snapshots that Toolwright took. Refs are not proof of that: an agent can write them. */
import { integer, text } from "./columns.ts";
import { all, change, first, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";

export interface SnapshotRow {
  /** The run; for another task or attempt also those. */
  readonly name: string;
  readonly seq: number;
  readonly runId: string;
  readonly gitDir: string;
  readonly commit: string;
  readonly noteJson: string;
  /** Of the index that was kept for the next snapshot. */
  readonly indexHash: string;
  readonly takenAtMs: number;
}

/** A snapshot of the same number is replaced. */
export function saveSnapshot(row: SnapshotRow): Transaction<number> {
  return change(
    `INSERT INTO toolwright_snapshots
       (name, seq, run_id, git_dir, commit_id, note_json, index_hash, taken_at_ms)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
     ON CONFLICT (name, seq) DO UPDATE SET run_id = excluded.run_id, git_dir = excluded.git_dir,
       commit_id = excluded.commit_id, note_json = excluded.note_json, index_hash = excluded.index_hash,
       taken_at_ms = excluded.taken_at_ms`,
    row.name,
    row.seq,
    row.runId,
    row.gitDir,
    row.commit,
    row.noteJson,
    row.indexHash,
    row.takenAtMs,
  );
}

export function* readSnapshot(name: string, seq: number): Transaction<SnapshotRow | undefined> {
  const row = yield* first("SELECT * FROM toolwright_snapshots WHERE name = ?1 AND seq = ?2", name, seq);
  return row === undefined ? undefined : toRow(row);
}

/** All of them, or those of one name. */
export function* listSnapshots(name: string | null): Transaction<SnapshotRow[]> {
  const rows = yield* all(
    "SELECT * FROM toolwright_snapshots WHERE CAST(?1 AS TEXT) IS NULL OR name = ?1 ORDER BY name, seq",
    name,
  );
  return rows.map(toRow);
}

/** Of the index that the last snapshot in this git folder kept. */
export function* readIndexHash(gitDir: string): Transaction<string | undefined> {
  const row = yield* first(
    `SELECT index_hash FROM toolwright_snapshots WHERE git_dir = ?1
     ORDER BY taken_at_ms DESC, seq DESC LIMIT 1`,
    gitDir,
  );
  return row === undefined ? undefined : text(row, "index_hash");
}

export function deleteSnapshots(name: string): Transaction<number> {
  return change("DELETE FROM toolwright_snapshots WHERE name = ?1", name);
}

function toRow(row: Row): SnapshotRow {
  return {
    name: text(row, "name"),
    seq: integer(row, "seq"),
    runId: text(row, "run_id"),
    gitDir: text(row, "git_dir"),
    commit: text(row, "commit_id"),
    noteJson: text(row, "note_json"),
    indexHash: text(row, "index_hash"),
    takenAtMs: integer(row, "taken_at_ms"),
  };
}
