-- Turns of a chat and runs of an agent's loop: each has a number, which is the iteration of its scope, from 1.

CREATE TABLE toolwright_turns (
  run_id        TEXT NOT NULL,
  turn          INTEGER NOT NULL,
  kind          TEXT NOT NULL,           -- what drives it
  input_hash    TEXT NOT NULL,           -- the same input again is the same turn
  began_json    TEXT NOT NULL,           -- what it began with, and resumes with
  result_json   TEXT,                    -- once it has ended: what it came to, for those who ask again
  started_at_ms INTEGER NOT NULL,
  ended_at_ms   INTEGER,                 -- set without a result where retention has given it up
  PRIMARY KEY (run_id, turn)
) WITHOUT ROWID;
CREATE INDEX toolwright_turns_open ON toolwright_turns (run_id) WHERE ended_at_ms IS NULL;
