-- Workers: which runs wait for one, which may take them, and which workers there are.

ALTER TABLE toolwright_runs ADD COLUMN ready_at_ms INTEGER;                 -- from when a worker may take it; NULL: it needs none now
ALTER TABLE toolwright_runs ADD COLUMN is_due INTEGER NOT NULL DEFAULT 0;   -- that time has come, by this database's clock
ALTER TABLE toolwright_runs ADD COLUMN priority INTEGER NOT NULL DEFAULT 0; -- larger first
ALTER TABLE toolwright_runs ADD COLUMN position INTEGER NOT NULL DEFAULT 0; -- the order of enqueueing
ALTER TABLE toolwright_runs ADD COLUMN claim_epoch INTEGER NOT NULL DEFAULT 0; -- raised by every worker that takes a run that is no workflow
ALTER TABLE toolwright_runs ADD COLUMN claimed_by TEXT;                    -- the worker that drives a run that is no workflow
ALTER TABLE toolwright_runs ADD COLUMN input_json TEXT;                    -- of an enqueued run that is no workflow
ALTER TABLE toolwright_runs ADD COLUMN code TEXT;                          -- the shape of a workflow that came from a file; follows `shape`
ALTER TABLE toolwright_runs ADD COLUMN on_change TEXT;                     -- ask, continue, pin; NULL: ask
ALTER TABLE toolwright_runs ADD COLUMN build TEXT;                         -- of the worker that started it
ALTER TABLE toolwright_runs ADD COLUMN host TEXT;                          -- where its files are; NULL: anywhere
ALTER TABLE toolwright_runs ADD COLUMN takeovers INTEGER NOT NULL DEFAULT 0; -- in a row, without progress in between
ALTER TABLE toolwright_runs ADD COLUMN progress INTEGER NOT NULL DEFAULT 0; -- what was done before the last takeover
ALTER TABLE toolwright_runs ADD COLUMN sent_at_ms INTEGER;                  -- when a job was sent for it
ALTER TABLE toolwright_runs ADD COLUMN parked TEXT;                        -- why no worker may take it although it is ready

CREATE INDEX toolwright_runs_queue ON toolwright_runs (kind, name, priority DESC, position, id) WHERE is_due = 1;
CREATE INDEX toolwright_runs_positions ON toolwright_runs (position) WHERE position > 0;
CREATE INDEX toolwright_runs_queue_code ON toolwright_runs (code, priority DESC, position, id) WHERE is_due = 1 AND code IS NOT NULL;
CREATE INDEX toolwright_runs_timers ON toolwright_runs (ready_at_ms) WHERE ready_at_ms IS NOT NULL AND is_due = 0 AND parked IS NULL;
CREATE INDEX toolwright_runs_owner ON toolwright_runs (owner_id) WHERE owner_id IS NOT NULL AND ready_at_ms IS NULL;

-- The lease that the owner asked for. A worker's lease decides also on its own host: a stopped process is not dead.
ALTER TABLE toolwright_owners ADD COLUMN lease_ms INTEGER NOT NULL DEFAULT 30000;
ALTER TABLE toolwright_owners ADD COLUMN is_worker INTEGER NOT NULL DEFAULT 0;

CREATE TABLE toolwright_workers (
  owner_id      TEXT PRIMARY KEY,        -- its lease is the owner's
  name          TEXT NOT NULL,           -- host name and pid, for people
  build         TEXT,
  labels_json   TEXT NOT NULL,
  serves_json   TEXT NOT NULL,           -- kind, name and code of what it runs
  shared_root   INTEGER NOT NULL,
  concurrency   INTEGER NOT NULL,
  state         TEXT NOT NULL,           -- active, draining
  started_at_ms INTEGER NOT NULL
) WITHOUT ROWID;

-- The list follows the table of workflow runs, as before. A run that is taken or has ended waits for no worker.
DROP TRIGGER toolwright_workflow_run_inserted;
DROP TRIGGER toolwright_workflow_run_updated;
CREATE TRIGGER toolwright_workflow_run_inserted AFTER INSERT ON toolwright_workflow_runs BEGIN
  INSERT INTO toolwright_runs (id, status, created_at_ms, updated_at_ms, kind, name, state, owner_id, finished_at_ms, error_json, code)
  VALUES (NEW.run_id, 'open', NEW.created_at_ms, NEW.updated_at_ms, 'workflow', substr(NEW.workflow, 1, 200), NEW.status,
    NEW.owner_id, NEW.finished_at_ms, NEW.error_json, CASE WHEN NEW.file IS NOT NULL THEN NEW.shape END)
  ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, name = excluded.name, state = excluded.state,
    owner_id = excluded.owner_id, updated_at_ms = excluded.updated_at_ms, finished_at_ms = excluded.finished_at_ms,
    error_json = excluded.error_json, code = excluded.code
  WHERE toolwright_runs.status = 'open';
END;
CREATE TRIGGER toolwright_workflow_run_updated
AFTER UPDATE OF status, workflow, owner_id, updated_at_ms, finished_at_ms, error_json ON toolwright_workflow_runs
WHEN NEW.epoch = OLD.epoch AND NEW.status NOT IN ('finished', 'failed', 'cancelled') BEGIN
  UPDATE toolwright_runs SET name = substr(NEW.workflow, 1, 200), state = NEW.status, owner_id = NEW.owner_id,
    updated_at_ms = NEW.updated_at_ms, finished_at_ms = NEW.finished_at_ms, error_json = NEW.error_json
  WHERE id = NEW.run_id AND status = 'open';
END;
CREATE TRIGGER toolwright_workflow_run_taken_or_ended
AFTER UPDATE OF status, workflow, owner_id, updated_at_ms, finished_at_ms, error_json, epoch ON toolwright_workflow_runs
WHEN NEW.epoch > OLD.epoch OR NEW.status IN ('finished', 'failed', 'cancelled') BEGIN
  UPDATE toolwright_runs SET name = substr(NEW.workflow, 1, 200), state = NEW.status, owner_id = NEW.owner_id,
    updated_at_ms = NEW.updated_at_ms, finished_at_ms = NEW.finished_at_ms, error_json = NEW.error_json,
    code = CASE WHEN NEW.file IS NOT NULL THEN NEW.shape END, ready_at_ms = NULL, is_due = 0, parked = NULL
  WHERE id = NEW.run_id AND status = 'open';
END;

UPDATE toolwright_runs SET code = (SELECT w.shape FROM toolwright_workflow_runs w WHERE w.run_id = toolwright_runs.id AND w.file IS NOT NULL)
WHERE kind = 'workflow' AND state NOT IN ('finished', 'failed', 'cancelled');
