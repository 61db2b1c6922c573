-- Schedules that start runs of a workflow again and again.

CREATE TABLE toolwright_schedules (
  name           TEXT PRIMARY KEY,
  workflow       TEXT NOT NULL,
  cron           TEXT,                   -- either this
  every_ms       BIGINT,                 -- or this
  tz             TEXT NOT NULL,          -- the time zone of the cron line
  input_json     TEXT NOT NULL,
  overlap        TEXT NOT NULL,          -- skip, queue
  catch_up       TEXT NOT NULL,          -- none, last
  paused         BIGINT NOT NULL,
  set_at_ms      BIGINT NOT NULL,        -- every_ms counts from here
  next_at_ms     BIGINT,                 -- NULL once a cron line has no more times
  last_at_ms     BIGINT,                 -- the time of the newest run
  last_run_id    TEXT,
  skipped        BIGINT NOT NULL         -- times at which no run was started
);
CREATE INDEX toolwright_schedules_next ON toolwright_schedules (next_at_ms) WHERE next_at_ms IS NOT NULL;

-- Times of a schedule with overlap 'queue' whose runs wait for the run before.
CREATE TABLE toolwright_queued_firings (
  name  TEXT NOT NULL,
  at_ms BIGINT NOT NULL,
  PRIMARY KEY (name, at_ms)
);

-- Wakes workers: a schedule that is set or resumed may fire before they would look again.
CREATE TRIGGER toolwright_schedule_set AFTER INSERT OR UPDATE OF next_at_ms, paused ON toolwright_schedules
FOR EACH ROW WHEN (NEW.next_at_ms IS NOT NULL AND NEW.paused = 0) EXECUTE FUNCTION toolwright_notify_ready();
