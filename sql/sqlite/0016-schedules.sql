-- Schedules that start runs of a workflow again and again.

CREATE TABLE toolwright_schedules (
  name           TEXT PRIMARY KEY,
  workflow       TEXT NOT NULL,
  cron           TEXT,                   -- either this
  every_ms       INTEGER,                 -- or this
  tz             TEXT NOT NULL,          -- the time zone of the cron line
  input_json     TEXT NOT NULL,
  overlap        TEXT NOT NULL,          -- skip, queue
  catch_up       TEXT NOT NULL,          -- none, last
  paused         INTEGER NOT NULL,
  set_at_ms      INTEGER NOT NULL,        -- every_ms counts from here
  next_at_ms     INTEGER,                 -- NULL once a cron line has no more times
  last_at_ms     INTEGER,                 -- the time of the newest run
  last_run_id    TEXT,
  skipped        INTEGER NOT NULL         -- times at which no run was started
) WITHOUT ROWID;
CREATE INDEX toolwright_schedules_next ON toolwright_schedules (next_at_ms) WHERE next_at_ms IS NOT NULL;

-- Times of a schedule with overlap 'queue' whose runs wait for the run before.
CREATE TABLE toolwright_queued_firings (
  name  TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (name, at_ms)
) WITHOUT ROWID;
