-- The log shows the loop path, which tells passes of nested loops apart, and the owner, which tells whether a call that
-- has not ended is still running.

DROP VIEW _smithers_tool_calls;
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

-- Requests of runs that were cancelled before: approving one would run nothing.
UPDATE toolwright_approvals SET status = 'void'
WHERE status = 'pending' AND run_id IN (SELECT run_id FROM toolwright_workflow_runs WHERE status = 'cancelled');
