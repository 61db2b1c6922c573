-- The calls again, with a rowid: rows are appended in the order of the calls, and only short index entries are in the order of the
-- keys. Sorted by their random keys, rows of a kilobyte filled a page each few calls, and split it.
CREATE TABLE toolwright_calls_appended (
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
INSERT INTO toolwright_calls_appended (scope_id, attempt, seq, key, idempotency_key, tool_name, unrepeatable, tool_call_id,
  status, effect, started_at_ms, finished_at_ms, tries, key_read, replayed_from, from_cache, isolation, approval_id, waits_for,
  owner_id, executing, reruns, model_name, trace, origin_key, copied_from, note, error_json, input_json, output_json, late_json)
SELECT scope_id, attempt, seq, key, idempotency_key, tool_name, unrepeatable, tool_call_id,
  status, effect, started_at_ms, finished_at_ms, tries, key_read, replayed_from, from_cache, isolation, approval_id, waits_for,
  owner_id, executing, reruns, model_name, trace, origin_key, copied_from, note, error_json, input_json, output_json, late_json
FROM toolwright_calls;
DROP VIEW _smithers_tool_calls;
DROP TABLE toolwright_calls;
ALTER TABLE toolwright_calls_appended RENAME TO toolwright_calls;
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
