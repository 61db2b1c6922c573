-- Snapshots of work trees: which commits Toolwright made itself. A restore takes no others.

CREATE TABLE toolwright_snapshots (
  name TEXT COLLATE "C" NOT NULL,  -- the run; for another task or attempt also those
  seq BIGINT NOT NULL,            -- the number of the call
  run_id TEXT NOT NULL,
  git_dir TEXT NOT NULL,           -- the SHA-256 of its path
  commit_id TEXT NOT NULL,
  note_json TEXT NOT NULL,         -- label, tool use and time
  index_hash TEXT NOT NULL,        -- of the index that was kept for the next snapshot
  taken_at_ms BIGINT NOT NULL,
  PRIMARY KEY (name, seq)
);
CREATE INDEX toolwright_snapshots_run ON toolwright_snapshots (run_id);
CREATE INDEX toolwright_snapshots_folder ON toolwright_snapshots (git_dir, taken_at_ms);
