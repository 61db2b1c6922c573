-- Workflows: runs with an owner, their tasks, and the model responses that an interrupted agent task goes on with.

CREATE TABLE toolwright_workflow_runs (
  run_id         TEXT PRIMARY KEY,
  workflow       TEXT NOT NULL,
  file           TEXT,                    -- where the definition came from, for a resume by id alone
  shape          TEXT NOT NULL,           -- a digest of what the definition is made of, to tell when it changed
  status         TEXT NOT NULL,           -- running, finished, failed, cancelled, waiting-approval
  input_json     TEXT NOT NULL,
  options_json   TEXT NOT NULL,           -- those of the start hold for a resume
  error_json     TEXT,
  epoch          BIGINT NOT NULL,        -- raised by every owner: one that was taken over cannot write any more
  owner_id       TEXT,
  cancel_requested BIGINT NOT NULL DEFAULT 0, -- seen by the owner, wherever it is
  created_at_ms  BIGINT NOT NULL,
  updated_at_ms  BIGINT NOT NULL,
  finished_at_ms BIGINT
);
CREATE INDEX toolwright_workflow_runs_created ON toolwright_workflow_runs (created_at_ms);

-- One row per task and loop path: its latest attempt.
CREATE TABLE toolwright_tasks (
  run_id         TEXT NOT NULL,
  node_id        TEXT NOT NULL,
  path           TEXT NOT NULL,
  iteration      BIGINT NOT NULL,
  attempt        BIGINT NOT NULL,
  status         TEXT NOT NULL,           -- running, finished, failed, skipped, waiting
  output_key     TEXT,
  output_json    TEXT,
  error_json     TEXT,
  prompt_json    TEXT,                    -- what the attempt began with, and resumes with
  position       BIGINT NOT NULL,        -- the order in which tasks ended
  started_at_ms  BIGINT NOT NULL,
  finished_at_ms BIGINT,
  PRIMARY KEY (run_id, node_id, path)
);
CREATE INDEX toolwright_tasks_output ON toolwright_tasks (output_key) WHERE output_key IS NOT NULL;

-- Loops that have ended: they stay ended, whatever their `until` would read later.
CREATE TABLE toolwright_loops (
  run_id TEXT NOT NULL,
  place  TEXT NOT NULL,
  PRIMARY KEY (run_id, place)
);

CREATE TABLE toolwright_responses (
  scope_id      BIGINT NOT NULL,
  attempt       BIGINT NOT NULL,
  position      BIGINT NOT NULL,         -- its place among the responses of the scope
  request_hash  TEXT NOT NULL,            -- tells when the loop has gone another way
  response_json TEXT NOT NULL,
  PRIMARY KEY (scope_id, attempt, position)
);
