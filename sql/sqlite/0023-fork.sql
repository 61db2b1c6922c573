-- Forks: runs that were made from a part of another run.

CREATE TABLE toolwright_forks (
  run_id     TEXT PRIMARY KEY,
  parent_id  TEXT NOT NULL,
  origin_id  TEXT NOT NULL,               -- the first run of the line: its keys are what equal calls have in common
  effects    TEXT NOT NULL,               -- ask, reuse, run: what an equal effect of the parent means
  cut        TEXT,                        -- the first task or call that runs; NULL: from the start, or where the parent stopped
  made_at_ms INTEGER NOT NULL
) WITHOUT ROWID;

ALTER TABLE toolwright_scopes ADD COLUMN origin_id TEXT;    -- of a scope in a fork
ALTER TABLE toolwright_calls ADD COLUMN origin_key TEXT;    -- of a call in a fork: the key of the equal call in the first run
ALTER TABLE toolwright_calls ADD COLUMN copied_from TEXT;   -- the key of the parent's call whose outcome this is
