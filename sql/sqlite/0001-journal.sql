-- The journal: runs, the scopes that calls count in, the calls themselves, and what policies keep about them.
-- Times are milliseconds since 1970. `*_json` columns hold the text of util/encode.ts.

CREATE TABLE toolwright_owners (
  id             TEXT PRIMARY KEY,
  host           TEXT NOT NULL,          -- boot id and pid namespace: where `pid` means something
  pid            INTEGER NOT NULL,
  process_start  TEXT NOT NULL,          -- tells a reused pid from the process that wrote this row
  lease_until_ms INTEGER NOT NULL,       -- by this database's clock
  ended_at_ms    INTEGER
);

CREATE TABLE toolwright_runs (
  id            TEXT PRIMARY KEY,
  status        TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
);

-- One row per run, task, loop path, turn and parent call. `attempt` is the current one, `epoch` the current owner's.
CREATE TABLE toolwright_scopes (
  id            INTEGER PRIMARY KEY,
  run_id        TEXT NOT NULL,
  node_id       TEXT NOT NULL,
  iteration     INTEGER NOT NULL,
  path          TEXT NOT NULL,           -- the full path of loop indices, and the turn
  parent_key    TEXT NOT NULL,           -- '' at the top, else the call that this scope is inside of
  attempt       INTEGER NOT NULL,
  epoch         INTEGER NOT NULL,
  owner_id      TEXT,                    -- who holds it open now
  UNIQUE (run_id, node_id, path, parent_key)
);

-- One B-tree, clustered by scope: a call costs one page, and a run is read and replayed in one sweep.
CREATE TABLE toolwright_calls (
  scope_id         INTEGER NOT NULL,
  attempt          INTEGER NOT NULL,
  seq              INTEGER NOT NULL,
  key              TEXT NOT NULL,
  idempotency_key  TEXT,                 -- only where a business key makes it differ from `key`
  tool_name        TEXT NOT NULL,
  unrepeatable     INTEGER NOT NULL, -- a non-idempotent side effect
  tool_call_id     TEXT,
  status           TEXT NOT NULL,        -- started, success, error, pending, denied, unknown; checked by the reader
  effect           TEXT,                 -- none, happened; NULL where nobody can tell
  input_json       TEXT,
  output_json      TEXT,
  error_json       TEXT,
  late_json        TEXT,                 -- what a try delivered after nobody waited for it any more
  started_at_ms    INTEGER NOT NULL,
  finished_at_ms   INTEGER,
  tries            INTEGER NOT NULL DEFAULT 0,
  key_read         INTEGER,              -- whether execute read ctx.idempotencyKey
  replayed_from    INTEGER,              -- the attempt whose outcome this is
  from_cache       INTEGER NOT NULL DEFAULT 0,
  isolation        TEXT,
  approval_id      TEXT,
  waits_for        TEXT,                 -- the approval of an inner call
  note             TEXT,                 -- what the model was told with the result; told again on a resume
  owner_id         TEXT,
  PRIMARY KEY (scope_id, key, attempt)
) WITHOUT ROWID;
CREATE INDEX toolwright_calls_key_unread ON toolwright_calls (tool_name) WHERE key_read = 0;

-- Values that the log shows truncated.
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
);
CREATE INDEX toolwright_approvals_status ON toolwright_approvals (status, position);
CREATE INDEX toolwright_approvals_call ON toolwright_approvals (call_key, round);
CREATE INDEX toolwright_approvals_denied ON toolwright_approvals (scope_id, tool_name, args_hash) WHERE status = 'denied';

CREATE INDEX toolwright_approvals_edited ON toolwright_approvals (scope_id, approved_hash) WHERE approved_hash IS NOT NULL;

-- Business keys: one effect per tool and key in the whole store.
CREATE TABLE toolwright_claims (
  idempotency_key TEXT PRIMARY KEY,
  tool_name       TEXT NOT NULL,
  args_hash       TEXT NOT NULL,
  scope_id        INTEGER NOT NULL,
  call_key        TEXT NOT NULL,
  attempt         INTEGER NOT NULL
);

CREATE TABLE toolwright_usage (
  run_id TEXT NOT NULL,
  name   TEXT NOT NULL,
  used   REAL NOT NULL DEFAULT 0,
  peak   REAL NOT NULL DEFAULT 0,      -- the most that one call has used
  PRIMARY KEY (run_id, name)
);

-- What calls in flight hold of a budget; a dead owner's are dropped.
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
  s.parent_key      AS parentKey,    s.parent_key     AS parent_key
FROM toolwright_calls c
JOIN toolwright_scopes s ON s.id = c.scope_id
LEFT JOIN toolwright_approvals a ON a.id = c.approval_id;
