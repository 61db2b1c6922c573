-- Written by scripts/schema.ts from the migrations. Do not edit.

CREATE TABLE toolwright_owners (
  id             TEXT PRIMARY KEY,
  host           TEXT NOT NULL,          -- boot id and pid namespace: where `pid` means something
  pid            INTEGER NOT NULL,
  process_start  TEXT NOT NULL,          -- tells a reused pid from the process that wrote this row
  lease_until_ms INTEGER NOT NULL,       -- by this database's clock
  ended_at_ms    INTEGER
, lease_ms INTEGER NOT NULL DEFAULT 30000, is_worker INTEGER NOT NULL DEFAULT 0);

CREATE TABLE toolwright_runs (
  id            TEXT PRIMARY KEY,
  status        TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
, kind TEXT NOT NULL DEFAULT 'program', name TEXT NOT NULL DEFAULT '', state TEXT NOT NULL DEFAULT 'finished', owner_id TEXT, parent_id TEXT, finished_at_ms INTEGER, error_json TEXT, search TEXT AS (lower(id || ' ' || name)) VIRTUAL, workflow TEXT AS (CASE WHEN kind = 'workflow' THEN name END) VIRTUAL, ready_at_ms INTEGER, is_due INTEGER NOT NULL DEFAULT 0, priority INTEGER NOT NULL DEFAULT 0, position INTEGER NOT NULL DEFAULT 0, claim_epoch INTEGER NOT NULL DEFAULT 0, claimed_by TEXT, input_json TEXT, code TEXT, on_change TEXT, build TEXT, host TEXT, takeovers INTEGER NOT NULL DEFAULT 0, progress INTEGER NOT NULL DEFAULT 0, sent_at_ms INTEGER, parked TEXT, trace TEXT, reverted_at_ms INTEGER, saga_json TEXT, input_hash TEXT);

CREATE TABLE toolwright_scopes (
  id            INTEGER PRIMARY KEY,
  run_id        TEXT NOT NULL,
  node_id       TEXT NOT NULL,
  iteration     INTEGER NOT NULL,
  path          TEXT NOT NULL,           -- the full path of loop indices, and the turn
  parent_key    TEXT NOT NULL,           -- '' at the top, else the call that this scope is inside of
  attempt       INTEGER NOT NULL,
  epoch         INTEGER NOT NULL,
  owner_id      TEXT, key_version INTEGER NOT NULL DEFAULT 1, trace TEXT, sealed INTEGER NOT NULL DEFAULT 0, origin_id TEXT,                    -- who holds it open now
  UNIQUE (run_id, node_id, path, parent_key)
);

CREATE TABLE toolwright_payloads (
  key     TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  part    TEXT NOT NULL,
  body    TEXT NOT NULL,
  PRIMARY KEY (key, attempt, part)
);

CREATE TABLE toolwright_approvals (
  position           INTEGER PRIMARY KEY, -- requests are shown in the order in which they were made
  id                 TEXT NOT NULL UNIQUE,
  kind               TEXT NOT NULL,      -- 'call': may it run? 'replay': did it happen?
  run_id             TEXT NOT NULL,
  node_id            TEXT NOT NULL,
  iteration          INTEGER NOT NULL,
  scope_id           INTEGER NOT NULL,
  call_key           TEXT NOT NULL,
  parent_key         TEXT NOT NULL,
  round              INTEGER NOT NULL,
  tool_name          TEXT NOT NULL,
  fingerprint        TEXT NOT NULL,
  args_json          TEXT NOT NULL,
  args_hash          TEXT NOT NULL,
  prompt             TEXT NOT NULL,
  defaults_json      TEXT,
  contract_json      TEXT NOT NULL,      -- schemas and redactions: any process can check a decision
  status             TEXT NOT NULL,
  requested_at_ms    INTEGER NOT NULL,
  expires_at_ms      INTEGER,
  decided_at_ms      INTEGER,
  decided_by         TEXT,
  comment            TEXT,
  approved_args_json TEXT,
  approved_hash      TEXT,               -- of the edited arguments: a later attempt may ask for these
  output_json        TEXT,               -- kind 'replay': what the person saw happen
  redeemed_at_ms     INTEGER
, clear_args INTEGER NOT NULL DEFAULT 0, is_measured INTEGER);

CREATE INDEX toolwright_approvals_status ON toolwright_approvals (status, position);

CREATE INDEX toolwright_approvals_call ON toolwright_approvals (call_key, round);

CREATE INDEX toolwright_approvals_denied ON toolwright_approvals (scope_id, tool_name, args_hash) WHERE status = 'denied';

CREATE INDEX toolwright_approvals_edited ON toolwright_approvals (scope_id, approved_hash) WHERE approved_hash IS NOT NULL;

CREATE TABLE toolwright_claims (
  idempotency_key TEXT PRIMARY KEY,
  tool_name       TEXT NOT NULL,
  args_hash       TEXT NOT NULL,
  scope_id        INTEGER NOT NULL,
  call_key        TEXT NOT NULL,
  attempt         INTEGER NOT NULL
, deleted_at_ms INTEGER, happened INTEGER);

CREATE TABLE toolwright_usage (
  run_id TEXT NOT NULL,
  name   TEXT NOT NULL,
  used   REAL NOT NULL DEFAULT 0,
  peak   REAL NOT NULL DEFAULT 0,      -- the most that one call has used
  PRIMARY KEY (run_id, name)
);

CREATE TABLE toolwright_reservations (
  run_id   TEXT NOT NULL,
  name     TEXT NOT NULL,
  call_key TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  amount   REAL NOT NULL,
  PRIMARY KEY (run_id, name, call_key)
);

CREATE TABLE toolwright_breakers (
  run_id       TEXT NOT NULL,            -- '' for one that all runs share
  tool_name    TEXT NOT NULL,
  failures     INTEGER NOT NULL,
  opened_at_ms INTEGER,
  probe_until_ms INTEGER,                -- while one call tries whether the tool works again
  PRIMARY KEY (run_id, tool_name)
);

CREATE TABLE toolwright_cache (
  run_id        TEXT NOT NULL,           -- '' for the whole store
  tool_name     TEXT NOT NULL,
  cache_key     TEXT NOT NULL,
  output_json   TEXT NOT NULL,
  expires_at_ms INTEGER,
  PRIMARY KEY (run_id, tool_name, cache_key)
);

CREATE TABLE toolwright_workflow_runs (
  run_id         TEXT PRIMARY KEY,
  workflow       TEXT NOT NULL,
  file           TEXT,                    -- where the definition came from, for a resume by id alone
  shape          TEXT NOT NULL,           -- a digest of what the definition is made of, to tell when it changed
  status         TEXT NOT NULL,           -- running, finished, failed, cancelled, waiting-approval
  input_json     TEXT NOT NULL,
  options_json   TEXT NOT NULL,           -- those of the start hold for a resume
  error_json     TEXT,
  epoch          INTEGER NOT NULL,        -- raised by every owner: one that was taken over cannot write any more
  owner_id       TEXT,
  cancel_requested INTEGER NOT NULL DEFAULT 0, -- seen by the owner, wherever it is
  created_at_ms  INTEGER NOT NULL,
  updated_at_ms  INTEGER NOT NULL,
  finished_at_ms INTEGER
);

CREATE INDEX toolwright_workflow_runs_created ON toolwright_workflow_runs (created_at_ms);

CREATE TABLE toolwright_tasks (
  run_id         TEXT NOT NULL,
  node_id        TEXT NOT NULL,
  path           TEXT NOT NULL,
  iteration      INTEGER NOT NULL,
  attempt        INTEGER NOT NULL,
  status         TEXT NOT NULL,           -- running, finished, failed, skipped, waiting
  output_key     TEXT,
  output_json    TEXT,
  error_json     TEXT,
  prompt_json    TEXT,                    -- what the attempt began with, and resumes with
  position       INTEGER NOT NULL,        -- the order in which tasks ended
  started_at_ms  INTEGER NOT NULL,
  finished_at_ms INTEGER,
  PRIMARY KEY (run_id, node_id, path)
) WITHOUT ROWID;

CREATE INDEX toolwright_tasks_output ON toolwright_tasks (output_key) WHERE output_key IS NOT NULL;

CREATE TABLE toolwright_loops (
  run_id TEXT NOT NULL,
  place  TEXT NOT NULL,
  PRIMARY KEY (run_id, place)
);

CREATE TABLE toolwright_responses (
  scope_id      INTEGER NOT NULL,
  attempt       INTEGER NOT NULL,
  position      INTEGER NOT NULL,         -- its place among the responses of the scope
  request_hash  TEXT NOT NULL,            -- tells when the loop has gone another way
  response_json TEXT NOT NULL, parts_json TEXT, last_index INTEGER, request_json TEXT, ordinal INTEGER,
  PRIMARY KEY (scope_id, attempt, position)
) WITHOUT ROWID;

CREATE INDEX toolwright_claims_scope ON toolwright_claims (scope_id);

CREATE INDEX toolwright_approvals_run ON toolwright_approvals (run_id, position);

CREATE INDEX toolwright_workflow_runs_updated ON toolwright_workflow_runs (status, updated_at_ms);

CREATE INDEX toolwright_cache_expiry ON toolwright_cache (expires_at_ms) WHERE expires_at_ms IS NOT NULL;

CREATE TABLE toolwright_turns (
  run_id        TEXT NOT NULL,
  turn          INTEGER NOT NULL,
  kind          TEXT NOT NULL,           -- what drives it
  input_hash    TEXT NOT NULL,           -- the same input again is the same turn
  began_json    TEXT NOT NULL,           -- what it began with, and resumes with
  result_json   TEXT,                    -- once it has ended: what it came to, for those who ask again
  started_at_ms INTEGER NOT NULL,
  ended_at_ms   INTEGER, budget_id TEXT,                 -- set without a result where retention has given it up
  PRIMARY KEY (run_id, turn)
) WITHOUT ROWID;

CREATE INDEX toolwright_turns_open ON toolwright_turns (run_id) WHERE ended_at_ms IS NULL;

CREATE TABLE toolwright_context_items (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  drive         TEXT NOT NULL,
  path          TEXT NOT NULL,            -- begins with /, has no empty, . or .. segment
  version       INTEGER NOT NULL,         -- raised by every change of the content
  bytes         INTEGER NOT NULL,
  sha256        TEXT NOT NULL,
  source        TEXT,                     -- a file below the root or a URL, which a refresh reads again
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  content       TEXT NOT NULL,            -- last, so that reading the others does not read it
  UNIQUE (drive, path)
);

CREATE TABLE toolwright_context_writes (
  key     TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  created INTEGER NOT NULL,
  changed INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE toolwright_context_chunks (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  item_id    INTEGER NOT NULL REFERENCES toolwright_context_items (id) ON DELETE CASCADE,
  position   INTEGER NOT NULL,
  start_char INTEGER NOT NULL,            -- in characters, as substr counts
  chars      INTEGER NOT NULL,
  start_line INTEGER NOT NULL,            -- from 1
  words      TEXT NOT NULL,               -- folded, with a space around each
  is_indexed INTEGER NOT NULL DEFAULT 0,  -- the FTS5 table is made by the first process whose SQLite has FTS5
  UNIQUE (item_id, position)
);

CREATE INDEX toolwright_context_chunks_unindexed ON toolwright_context_chunks (id) WHERE is_indexed = 0;

CREATE TABLE toolwright_context_embeddings (
  chunk_id   INTEGER PRIMARY KEY REFERENCES toolwright_context_chunks (id) ON DELETE CASCADE,
  model      TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  vector     TEXT NOT NULL                -- 32-bit floats of length 1, in base64
);

CREATE INDEX toolwright_turns_input ON toolwright_turns (run_id, input_hash, turn);

CREATE TABLE toolwright_snapshots (
  name TEXT NOT NULL,              -- the run; for another task or attempt also those
  seq INTEGER NOT NULL,            -- the number of the call
  run_id TEXT NOT NULL,
  git_dir TEXT NOT NULL,           -- the SHA-256 of its path
  commit_id TEXT NOT NULL,
  note_json TEXT NOT NULL,         -- label, tool use and time
  index_hash TEXT NOT NULL,        -- of the index that was kept for the next snapshot
  taken_at_ms INTEGER NOT NULL,
  PRIMARY KEY (name, seq)
);

CREATE INDEX toolwright_snapshots_run ON toolwright_snapshots (run_id);

CREATE INDEX toolwright_snapshots_folder ON toolwright_snapshots (git_dir, taken_at_ms);

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

CREATE TABLE toolwright_outlines (
  run_id       TEXT PRIMARY KEY,
  outline_json TEXT NOT NULL
) WITHOUT ROWID;

CREATE INDEX toolwright_runs_queue ON toolwright_runs (kind, name, priority DESC, position, id) WHERE is_due = 1;

CREATE INDEX toolwright_runs_positions ON toolwright_runs (position) WHERE position > 0;

CREATE INDEX toolwright_runs_queue_code ON toolwright_runs (code, priority DESC, position, id) WHERE is_due = 1 AND code IS NOT NULL;

CREATE INDEX toolwright_runs_timers ON toolwright_runs (ready_at_ms) WHERE ready_at_ms IS NOT NULL AND is_due = 0 AND parked IS NULL;

CREATE INDEX toolwright_runs_owner ON toolwright_runs (owner_id) WHERE owner_id IS NOT NULL AND ready_at_ms IS NULL;

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

CREATE TABLE toolwright_queued_firings (
  name  TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (name, at_ms)
) WITHOUT ROWID;

CREATE TABLE toolwright_streams (
  run_id     TEXT PRIMARY KEY,
  next_index INTEGER NOT NULL,            -- every later part has this index or a higher one
  stop_turn  INTEGER                      -- the turn that must stop
, deleted_index INTEGER) WITHOUT ROWID;

CREATE TABLE toolwright_stream_parts (
  run_id      TEXT NOT NULL,
  first_index INTEGER NOT NULL,
  last_index  INTEGER NOT NULL,
  scope_id    INTEGER NOT NULL,
  response    TEXT NOT NULL,              -- '' for the result of a call
  parts_json  TEXT NOT NULL,
  PRIMARY KEY (run_id, first_index)
) WITHOUT ROWID;

CREATE INDEX toolwright_stream_parts_by_scope ON toolwright_stream_parts (scope_id);

CREATE TABLE toolwright_stream_readers (
  run_id      TEXT NOT NULL,
  reader_id   TEXT NOT NULL,
  read_index  INTEGER NOT NULL,
  until_ms    INTEGER NOT NULL, public_key TEXT, has_lost INTEGER,
  PRIMARY KEY (run_id, reader_id)
) WITHOUT ROWID;

CREATE TABLE toolwright_tool_limits (
  name TEXT PRIMARY KEY
) WITHOUT ROWID;

CREATE TABLE toolwright_limit_queue (
  name          TEXT NOT NULL,
  owner_id      TEXT NOT NULL,
  position      INTEGER NOT NULL,
  seen_until_ms INTEGER NOT NULL,         -- a process that waits renews this; later the next one has its turn
  PRIMARY KEY (name, owner_id)
) WITHOUT ROWID;

CREATE TABLE toolwright_rate_starts (
  name          TEXT NOT NULL,
  at_ms         INTEGER NOT NULL,
  call_key      TEXT NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  PRIMARY KEY (name, at_ms, call_key)
) WITHOUT ROWID;

CREATE TABLE toolwright_recordings (
  run_id TEXT NOT NULL,
  part   TEXT NOT NULL,                   -- run, tool <name>, result <path> <task>, output <path> <task>, turn <n>
  body   TEXT NOT NULL,
  PRIMARY KEY (run_id, part)
) WITHOUT ROWID;

CREATE TABLE toolwright_replaced_files (
  key     TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  body    TEXT NOT NULL,
  PRIMARY KEY (key, attempt)
) WITHOUT ROWID;

CREATE TABLE toolwright_forks (
  run_id     TEXT PRIMARY KEY,
  parent_id  TEXT NOT NULL,
  origin_id  TEXT NOT NULL,               -- the first run of the line: its keys are what equal calls have in common
  effects    TEXT NOT NULL,               -- ask, reuse, run: what an equal effect of the parent means
  cut        TEXT,                        -- the first task or call that runs; NULL: from the start, or where the parent stopped
  made_at_ms INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE toolwright_sealed_parts (
  run_id      TEXT NOT NULL,
  reader_id   TEXT NOT NULL,
  last_index  INTEGER NOT NULL,
  sealed      TEXT NOT NULL,
  PRIMARY KEY (run_id, reader_id, last_index)
) WITHOUT ROWID;

CREATE INDEX toolwright_approvals_unmeasured ON toolwright_approvals (decided_at_ms)
  WHERE decided_at_ms IS NOT NULL AND is_measured IS NULL;

CREATE INDEX toolwright_scopes_open ON toolwright_scopes (run_id, owner_id) WHERE owner_id IS NOT NULL;

CREATE TABLE toolwright_turn_inputs (
  run_id     TEXT NOT NULL,
  turn       INTEGER NOT NULL,
  began_json TEXT NOT NULL,              -- what it began with, and resumes with
  PRIMARY KEY (run_id, turn)
);

CREATE TABLE "toolwright_calls" (
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
  trace            TEXT,                 -- the span context of the latest try, with telemetry
  origin_key       TEXT,                 -- in a fork: the key of the equal call in the first run of the line
  copied_from      TEXT,                 -- in a fork: the key of the parent's call whose outcome this is
  input_preview    TEXT AS (CASE WHEN octet_length(input_json) > 400 THEN substr(input_json, 1, 300) END) STORED,
  output_preview   TEXT AS (CASE WHEN octet_length(output_json) > 400 THEN substr(output_json, 1, 300) END) STORED,
  note             TEXT,                 -- what the model received with the result, and receives again on a resume
  error_json       TEXT,
  input_json       TEXT,
  output_json      TEXT,
  late_json        TEXT,                 -- the result of a try that arrived after its call had ended
  PRIMARY KEY (scope_id, key, attempt)
);

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
