-- Runs of every kind in one list: workflows, agents, programs and single calls of tools.

ALTER TABLE toolwright_runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'program';     -- workflow, agent, program, tool
ALTER TABLE toolwright_runs ADD COLUMN name TEXT NOT NULL DEFAULT '';            -- of the workflow, agent or tool; cut
ALTER TABLE toolwright_runs ADD COLUMN state TEXT NOT NULL DEFAULT 'finished';   -- what operators see; `status` is for retention
ALTER TABLE toolwright_runs ADD COLUMN owner_id TEXT;                            -- tells whether a running run was interrupted
ALTER TABLE toolwright_runs ADD COLUMN parent_id TEXT;                           -- the run that it was forked from
ALTER TABLE toolwright_runs ADD COLUMN finished_at_ms INTEGER;
ALTER TABLE toolwright_runs ADD COLUMN error_json TEXT;
ALTER TABLE toolwright_runs ADD COLUMN search TEXT AS (lower(id || ' ' || name)) VIRTUAL;
ALTER TABLE toolwright_runs ADD COLUMN workflow TEXT AS (CASE WHEN kind = 'workflow' THEN name END) VIRTUAL;

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
FROM toolwright_workflow_runs WHERE true
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
  created_at_ms INTEGER NOT NULL,        -- of the run
  run_id        TEXT NOT NULL,
  PRIMARY KEY (key, value, created_at_ms, run_id)
) WITHOUT ROWID;
CREATE INDEX toolwright_run_labels_run ON toolwright_run_labels (run_id);

-- The latest tree of a workflow run, so that other processes can show the tasks to come.
CREATE TABLE toolwright_outlines (
  run_id       TEXT PRIMARY KEY,
  outline_json TEXT NOT NULL
) WITHOUT ROWID;

-- A workflow run has its own table; the list follows it, whoever writes it.
CREATE TRIGGER toolwright_workflow_run_inserted AFTER INSERT ON toolwright_workflow_runs BEGIN
  INSERT INTO toolwright_runs (id, status, created_at_ms, updated_at_ms, kind, name, state, owner_id, finished_at_ms, error_json)
  VALUES (NEW.run_id, 'open', NEW.created_at_ms, NEW.updated_at_ms, 'workflow', substr(NEW.workflow, 1, 200), NEW.status,
    NEW.owner_id, NEW.finished_at_ms, NEW.error_json)
  ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, name = excluded.name, state = excluded.state,
    owner_id = excluded.owner_id, updated_at_ms = excluded.updated_at_ms, finished_at_ms = excluded.finished_at_ms,
    error_json = excluded.error_json
  WHERE toolwright_runs.status = 'open';
END;
CREATE TRIGGER toolwright_workflow_run_updated
AFTER UPDATE OF status, workflow, owner_id, updated_at_ms, finished_at_ms, error_json ON toolwright_workflow_runs BEGIN
  UPDATE toolwright_runs SET name = substr(NEW.workflow, 1, 200), state = NEW.status, owner_id = NEW.owner_id,
    updated_at_ms = NEW.updated_at_ms, finished_at_ms = NEW.finished_at_ms, error_json = NEW.error_json
  WHERE id = NEW.run_id AND status = 'open';
END;

-- The calls again, with the short columns first: SQLite reads a long value page by page to get at what comes after it. Long
-- inputs and outputs have a preview, which lists show.
CREATE TABLE toolwright_calls_ordered (
  scope_id         INTEGER NOT NULL,
  attempt          INTEGER NOT NULL,
  seq              INTEGER NOT NULL,
  key              TEXT NOT NULL,
  idempotency_key  TEXT,                 -- only where a business key makes it differ from `key`
  tool_name        TEXT NOT NULL,
  unrepeatable     INTEGER NOT NULL,     -- a non-idempotent side effect
  tool_call_id     TEXT,
  status           TEXT NOT NULL,        -- started, success, error, pending, denied, unknown; checked by the reader
  effect           TEXT,                 -- none, happened; NULL where it is unknown
  started_at_ms    INTEGER NOT NULL,
  finished_at_ms   INTEGER,
  tries            INTEGER NOT NULL DEFAULT 0,
  key_read         INTEGER,              -- whether execute read ctx.idempotencyKey
  replayed_from    INTEGER,              -- the attempt whose outcome this is
  from_cache       INTEGER NOT NULL DEFAULT 0,
  isolation        TEXT,
  approval_id      TEXT,
  waits_for        TEXT,                 -- the approval of an inner call
  owner_id         TEXT,
  executing        INTEGER,              -- a try that was cut off: 1 while it still runs, 0 once it has settled
  reruns           INTEGER,              -- 1: an equal call of a later attempt runs again; NULL: not known
  model_name       TEXT,                 -- the name that the model called, where it is not the tool's own
  input_preview    TEXT AS (CASE WHEN octet_length(input_json) > 400 THEN substr(input_json, 1, 300) END) STORED,
  output_preview   TEXT AS (CASE WHEN octet_length(output_json) > 400 THEN substr(output_json, 1, 300) END) STORED,
  note             TEXT,                 -- what the model received with the result, and receives again on a resume
  error_json       TEXT,
  input_json       TEXT,
  output_json      TEXT,
  late_json        TEXT,                 -- the result of a try that arrived after its call had ended
  PRIMARY KEY (scope_id, key, attempt)
) WITHOUT ROWID;
INSERT INTO toolwright_calls_ordered (scope_id, attempt, seq, key, idempotency_key, tool_name, unrepeatable, tool_call_id,
  status, effect, started_at_ms, finished_at_ms, tries, key_read, replayed_from, from_cache, isolation, approval_id, waits_for,
  owner_id, executing, reruns, model_name, note, error_json, input_json, output_json, late_json)
SELECT scope_id, attempt, seq, key, idempotency_key, tool_name, unrepeatable, tool_call_id,
  status, effect, started_at_ms, finished_at_ms, tries, key_read, replayed_from, from_cache, isolation, approval_id, waits_for,
  owner_id, executing, reruns, model_name, note, error_json, input_json, output_json, late_json
FROM toolwright_calls;
DROP VIEW _smithers_tool_calls;
DROP TABLE toolwright_calls;
ALTER TABLE toolwright_calls_ordered RENAME TO toolwright_calls;
CREATE INDEX toolwright_calls_key_unread ON toolwright_calls (tool_name) WHERE key_read = 0;

CREATE VIEW _smithers_tool_calls AS
SELECT
  s.run_id          AS runId,        s.run_id         AS run_id,
  s.node_id         AS nodeId,       s.node_id        AS node_id,
  s.iteration       AS iteration,
  c.attempt         AS attempt,
  c.seq             AS seq,
  c.tool_name       AS toolName,     c.tool_name      AS tool_name,
  c.input_json      AS inputJson,    c.input_json     AS input_json,
  c.output_json     AS outputJson,   c.output_json    AS output_json,
  c.started_at_ms   AS startedAtMs,  c.started_at_ms  AS started_at_ms,
  c.finished_at_ms  AS finishedAtMs, c.finished_at_ms AS finished_at_ms,
  c.status          AS status,
  c.error_json      AS errorJson,    c.error_json     AS error_json,
  c.key             AS key,
  coalesce(c.idempotency_key, c.key) AS idempotencyKey, coalesce(c.idempotency_key, c.key) AS idempotency_key,
  c.tool_call_id    AS toolCallId,   c.tool_call_id   AS tool_call_id,
  CASE WHEN c.replayed_from IS NULL THEN 0 ELSE 1 END AS replayed,
  c.replayed_from   AS replayedFrom, c.replayed_from  AS replayed_from,
  c.from_cache      AS fromCache,    c.from_cache     AS from_cache,
  c.tries           AS tries,
  c.effect          AS effect,
  c.isolation       AS isolation,
  c.approval_id     AS approvalId,   c.approval_id    AS approval_id,
  a.status          AS approval,
  s.parent_key      AS parentKey,    s.parent_key     AS parent_key,
  s.path            AS path,
  c.owner_id        AS ownerId, c.owner_id AS owner_id
FROM toolwright_calls c
JOIN toolwright_scopes s ON s.id = c.scope_id
LEFT JOIN toolwright_approvals a ON a.id = c.approval_id;
