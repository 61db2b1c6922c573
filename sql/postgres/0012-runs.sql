-- Runs of every kind in one list: workflows, agents, programs and single calls of tools.

ALTER TABLE toolwright_runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'program';     -- workflow, agent, program, tool
ALTER TABLE toolwright_runs ADD COLUMN name TEXT NOT NULL DEFAULT '';            -- of the workflow, agent or tool; cut
ALTER TABLE toolwright_runs ADD COLUMN state TEXT NOT NULL DEFAULT 'finished';   -- what operators see; `status` is for retention
ALTER TABLE toolwright_runs ADD COLUMN owner_id TEXT;                            -- tells whether a running run was interrupted
ALTER TABLE toolwright_runs ADD COLUMN parent_id TEXT;                           -- the run that it was forked from
ALTER TABLE toolwright_runs ADD COLUMN finished_at_ms BIGINT;
ALTER TABLE toolwright_runs ADD COLUMN error_json TEXT;
ALTER TABLE toolwright_runs ADD COLUMN search TEXT GENERATED ALWAYS AS (lower(id || ' ' || name)) STORED;
ALTER TABLE toolwright_runs ADD COLUMN workflow TEXT GENERATED ALWAYS AS (CASE WHEN kind = 'workflow' THEN name END) STORED;

UPDATE toolwright_runs SET
  kind = CASE WHEN EXISTS (SELECT 1 FROM toolwright_turns t WHERE t.run_id = toolwright_runs.id) THEN 'agent' ELSE 'program' END,
  owner_id = (SELECT MIN(s.owner_id) FROM toolwright_scopes s WHERE s.run_id = toolwright_runs.id AND s.owner_id IS NOT NULL),
  finished_at_ms = updated_at_ms
WHERE status = 'open';
UPDATE toolwright_runs SET finished_at_ms = NULL, state = 'waiting-approval'
WHERE status = 'open' AND id IN (SELECT run_id FROM toolwright_approvals WHERE status = 'pending');
UPDATE toolwright_runs SET finished_at_ms = NULL, state = 'running' WHERE status = 'open' AND owner_id IS NOT NULL;

INSERT INTO toolwright_runs (id, status, created_at_ms, updated_at_ms, kind, name, state, owner_id, finished_at_ms, error_json)
SELECT run_id, 'open', created_at_ms, updated_at_ms, 'workflow', substr(workflow, 1, 200), status, owner_id, finished_at_ms, error_json
FROM toolwright_workflow_runs
ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, name = excluded.name, state = excluded.state, owner_id = excluded.owner_id,
  created_at_ms = excluded.created_at_ms, updated_at_ms = excluded.updated_at_ms, finished_at_ms = excluded.finished_at_ms,
  error_json = excluded.error_json;

-- One index for each filter, in the order of the list. They hold what further filters read, so that a run that does not
-- match costs no look-up in the table.
DROP INDEX toolwright_runs_created;
CREATE INDEX toolwright_runs_created ON toolwright_runs (created_at_ms, id, search) WHERE status = 'open';
CREATE INDEX toolwright_runs_state ON toolwright_runs (state, created_at_ms, id, kind, search) WHERE status = 'open';
CREATE INDEX toolwright_runs_kind ON toolwright_runs (kind, created_at_ms, id, search) WHERE status = 'open';
CREATE INDEX toolwright_runs_workflow ON toolwright_runs (workflow, created_at_ms, id, state, search)
  WHERE status = 'open' AND workflow IS NOT NULL;
CREATE INDEX toolwright_runs_parent ON toolwright_runs (parent_id, created_at_ms) WHERE parent_id IS NOT NULL;

CREATE TABLE toolwright_run_labels (
  key           TEXT NOT NULL,
  value         TEXT NOT NULL,
  created_at_ms BIGINT NOT NULL,        -- of the run
  run_id        TEXT NOT NULL,
  PRIMARY KEY (key, value, created_at_ms, run_id)
);
CREATE INDEX toolwright_run_labels_run ON toolwright_run_labels (run_id);

-- The latest tree of a workflow run, so that other processes can show the tasks to come.
CREATE TABLE toolwright_outlines (
  run_id       TEXT PRIMARY KEY,
  outline_json TEXT NOT NULL
);

-- A workflow run has its own table; the list follows it, whoever writes it.
CREATE FUNCTION toolwright_list_workflow_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO toolwright_runs (id, status, created_at_ms, updated_at_ms, kind, name, state, owner_id, finished_at_ms, error_json)
    VALUES (NEW.run_id, 'open', NEW.created_at_ms, NEW.updated_at_ms, 'workflow', substr(NEW.workflow, 1, 200), NEW.status,
      NEW.owner_id, NEW.finished_at_ms, NEW.error_json)
    ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, name = excluded.name, state = excluded.state,
      owner_id = excluded.owner_id, updated_at_ms = excluded.updated_at_ms, finished_at_ms = excluded.finished_at_ms,
      error_json = excluded.error_json
    WHERE toolwright_runs.status = 'open';
  ELSE
    UPDATE toolwright_runs SET name = substr(NEW.workflow, 1, 200), state = NEW.status, owner_id = NEW.owner_id,
      updated_at_ms = NEW.updated_at_ms, finished_at_ms = NEW.finished_at_ms, error_json = NEW.error_json
    WHERE id = NEW.run_id AND status = 'open';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER toolwright_workflow_run_inserted AFTER INSERT ON toolwright_workflow_runs
FOR EACH ROW EXECUTE FUNCTION toolwright_list_workflow_run();
CREATE TRIGGER toolwright_workflow_run_updated
AFTER UPDATE OF status, workflow, owner_id, updated_at_ms, finished_at_ms, error_json ON toolwright_workflow_runs
FOR EACH ROW EXECUTE FUNCTION toolwright_list_workflow_run();
