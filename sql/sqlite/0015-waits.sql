-- Tasks that wait for a time or a signal, and the signals that were sent to runs.

CREATE TABLE toolwright_waits (
  run_id        TEXT NOT NULL,
  node_id       TEXT NOT NULL,
  path          TEXT NOT NULL,
  kind          TEXT NOT NULL,           -- timer, signal
  signal        TEXT,                    -- the name of the signal
  schema_json   TEXT,                    -- of the payload, as JSON Schema, so that any process can refuse one
  total_ms      INTEGER,                  -- how long it may last; NULL for a fixed date and for no limit
  started_at_ms INTEGER NOT NULL,
  due_at_ms     INTEGER,                  -- NULL for a signal without a limit
  PRIMARY KEY (run_id, node_id, path)
) WITHOUT ROWID;
CREATE INDEX toolwright_waits_due ON toolwright_waits (due_at_ms) WHERE due_at_ms IS NOT NULL;

CREATE TABLE toolwright_signals (
  position       INTEGER PRIMARY KEY AUTOINCREMENT, -- signals are used in the order in which they came
  run_id         TEXT NOT NULL,
  name           TEXT NOT NULL,
  signal_key     TEXT,                   -- a second signal with this key is not stored
  payload_json   TEXT NOT NULL,
  sent_at_ms     INTEGER NOT NULL,
  settled_at_ms  INTEGER,                 -- when a task used or refused it
  node_id        TEXT,                   -- the task that did
  path           TEXT,
  refused_because TEXT                   -- why the task did not use it
);
CREATE UNIQUE INDEX toolwright_signals_key ON toolwright_signals (run_id, name, signal_key) WHERE signal_key IS NOT NULL;
CREATE INDEX toolwright_signals_run ON toolwright_signals (run_id, name, position);
