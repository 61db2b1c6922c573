CREATE TABLE toolwright_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE toolwright_owners (
  id             TEXT PRIMARY KEY,
  host           TEXT NOT NULL,
  pid            BIGINT NOT NULL,
  process_start  TEXT NOT NULL,
  lease_until_ms BIGINT NOT NULL,
  ended_at_ms    BIGINT
);
CREATE TABLE toolwright_runs (
  id            TEXT PRIMARY KEY,
  status        TEXT NOT NULL,
  created_at_ms BIGINT NOT NULL,
  updated_at_ms BIGINT NOT NULL
);
CREATE TABLE toolwright_scopes (
  id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id        TEXT NOT NULL,
  node_id       TEXT COLLATE "C" NOT NULL,
  iteration     BIGINT NOT NULL,
  path          TEXT NOT NULL,
  parent_key    TEXT NOT NULL,
  attempt       BIGINT NOT NULL,
  epoch         BIGINT NOT NULL,
  owner_id      TEXT,
  UNIQUE (run_id, node_id, path, parent_key)
);
CREATE TABLE toolwright_calls (
  scope_id         BIGINT NOT NULL,
  attempt          BIGINT NOT NULL,
  seq              BIGINT NOT NULL,
  key              TEXT NOT NULL,
  idempotency_key  TEXT,
  tool_name        TEXT NOT NULL,
  unrepeatable     BIGINT NOT NULL,
  tool_call_id     TEXT,
  status           TEXT NOT NULL,
  effect           TEXT,
  input_json       TEXT,
  output_json      TEXT,
  error_json       TEXT,
  late_json        TEXT,
  started_at_ms    BIGINT NOT NULL,
  finished_at_ms   BIGINT,
  tries            BIGINT NOT NULL DEFAULT 0,
  key_read         BIGINT,
  replayed_from    BIGINT,
  from_cache       BIGINT NOT NULL DEFAULT 0,
  isolation        TEXT,
  approval_id      TEXT,
  waits_for        TEXT,
  note             TEXT,
  owner_id         TEXT,
  PRIMARY KEY (scope_id, key, attempt)
);
CREATE INDEX toolwright_calls_key_unread ON toolwright_calls (tool_name) WHERE key_read = 0;
CREATE TABLE toolwright_payloads (
  key     TEXT NOT NULL,
  attempt BIGINT NOT NULL,
  part    TEXT NOT NULL,
  body    TEXT NOT NULL,
  PRIMARY KEY (key, attempt, part)
);
CREATE TABLE toolwright_approvals (
  position           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id                 TEXT NOT NULL UNIQUE,
  kind               TEXT NOT NULL,
  run_id             TEXT NOT NULL,
  node_id            TEXT NOT NULL,
  iteration          BIGINT NOT NULL,
  scope_id           BIGINT NOT NULL,
  call_key           TEXT NOT NULL,
  parent_key         TEXT NOT NULL,
  round              BIGINT NOT NULL,
  tool_name          TEXT NOT NULL,
  fingerprint        TEXT NOT NULL,
  args_json          TEXT NOT NULL,
  args_hash          TEXT NOT NULL,
  prompt             TEXT NOT NULL,
  defaults_json      TEXT,
  contract_json      TEXT NOT NULL,
  status             TEXT NOT NULL,
  requested_at_ms    BIGINT NOT NULL,
  expires_at_ms      BIGINT,
  decided_at_ms      BIGINT,
  decided_by         TEXT,
  comment            TEXT,
  approved_args_json TEXT,
  approved_hash      TEXT,
  output_json        TEXT,
  redeemed_at_ms     BIGINT
);
CREATE INDEX toolwright_approvals_status ON toolwright_approvals (status, position);
CREATE INDEX toolwright_approvals_call ON toolwright_approvals (call_key, round);
CREATE INDEX toolwright_approvals_denied ON toolwright_approvals (scope_id, tool_name, args_hash) WHERE status = 'denied';
CREATE INDEX toolwright_approvals_edited ON toolwright_approvals (scope_id, approved_hash) WHERE approved_hash IS NOT NULL;
CREATE TABLE toolwright_claims (
  idempotency_key TEXT PRIMARY KEY,
  tool_name       TEXT NOT NULL,
  args_hash       TEXT NOT NULL,
  scope_id        BIGINT NOT NULL,
  call_key        TEXT NOT NULL,
  attempt         BIGINT NOT NULL
);
CREATE TABLE toolwright_usage (
  run_id TEXT NOT NULL,
  name   TEXT NOT NULL,
  used   DOUBLE PRECISION NOT NULL DEFAULT 0,
  peak   DOUBLE PRECISION NOT NULL DEFAULT 0,
  PRIMARY KEY (run_id, name)
);
CREATE TABLE toolwright_reservations (
  run_id   TEXT NOT NULL,
  name     TEXT NOT NULL,
  call_key TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  amount   DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (run_id, name, call_key)
);
CREATE TABLE toolwright_breakers (
  run_id       TEXT NOT NULL,
  tool_name    TEXT NOT NULL,
  failures     BIGINT NOT NULL,
  opened_at_ms BIGINT,
  probe_until_ms BIGINT,
  PRIMARY KEY (run_id, tool_name)
);
CREATE TABLE toolwright_cache (
  run_id        TEXT NOT NULL,
  tool_name     TEXT NOT NULL,
  cache_key     TEXT NOT NULL,
  output_json   TEXT NOT NULL,
  expires_at_ms BIGINT,
  PRIMARY KEY (run_id, tool_name, cache_key)
);
CREATE VIEW _smithers_tool_calls AS
SELECT
  s.run_id          AS "runId",        s.run_id         AS run_id,
  s.node_id         AS "nodeId",       s.node_id        AS node_id,
  s.iteration       AS iteration,
  c.attempt         AS attempt,
  c.seq             AS seq,
  c.tool_name       AS "toolName",     c.tool_name      AS tool_name,
  c.input_json      AS "inputJson",    c.input_json     AS input_json,
  c.output_json     AS "outputJson",   c.output_json    AS output_json,
  c.started_at_ms   AS "startedAtMs",  c.started_at_ms  AS started_at_ms,
  c.finished_at_ms  AS "finishedAtMs", c.finished_at_ms AS finished_at_ms,
  c.status          AS status,
  c.error_json      AS "errorJson",    c.error_json     AS error_json,
  c.key             AS key,
  coalesce(c.idempotency_key, c.key) AS "idempotencyKey", coalesce(c.idempotency_key, c.key) AS idempotency_key,
  c.tool_call_id    AS "toolCallId",   c.tool_call_id   AS tool_call_id,
  CASE WHEN c.replayed_from IS NULL THEN 0 ELSE 1 END AS replayed,
  c.replayed_from   AS "replayedFrom", c.replayed_from  AS replayed_from,
  c.from_cache      AS "fromCache",    c.from_cache     AS from_cache,
  c.tries           AS tries,
  c.effect          AS effect,
  c.isolation       AS isolation,
  c.approval_id     AS "approvalId",   c.approval_id    AS approval_id,
  a.status          AS approval,
  s.parent_key      AS "parentKey",    s.parent_key     AS parent_key
FROM toolwright_calls c
JOIN toolwright_scopes s ON s.id = c.scope_id
LEFT JOIN toolwright_approvals a ON a.id = c.approval_id;


CREATE TABLE toolwright_workflow_runs (
  run_id         TEXT PRIMARY KEY,
  workflow       TEXT NOT NULL,
  file           TEXT,
  shape          TEXT NOT NULL,
  status         TEXT NOT NULL,
  input_json     TEXT NOT NULL,
  options_json   TEXT NOT NULL,
  error_json     TEXT,
  epoch          BIGINT NOT NULL,
  owner_id       TEXT,
  cancel_requested BIGINT NOT NULL DEFAULT 0,
  created_at_ms  BIGINT NOT NULL,
  updated_at_ms  BIGINT NOT NULL,
  finished_at_ms BIGINT
);
CREATE INDEX toolwright_workflow_runs_created ON toolwright_workflow_runs (created_at_ms);
CREATE TABLE toolwright_tasks (
  run_id         TEXT NOT NULL,
  node_id        TEXT NOT NULL,
  path           TEXT NOT NULL,
  iteration      BIGINT NOT NULL,
  attempt        BIGINT NOT NULL,
  status         TEXT NOT NULL,
  output_key     TEXT,
  output_json    TEXT,
  error_json     TEXT,
  prompt_json    TEXT,
  position       BIGINT NOT NULL,
  started_at_ms  BIGINT NOT NULL,
  finished_at_ms BIGINT,
  PRIMARY KEY (run_id, node_id, path)
);
CREATE INDEX toolwright_tasks_output ON toolwright_tasks (output_key) WHERE output_key IS NOT NULL;
CREATE TABLE toolwright_loops (
  run_id TEXT NOT NULL,
  place  TEXT NOT NULL,
  PRIMARY KEY (run_id, place)
);
CREATE TABLE toolwright_responses (
  scope_id      BIGINT NOT NULL,
  attempt       BIGINT NOT NULL,
  position      BIGINT NOT NULL,
  request_hash  TEXT NOT NULL,
  response_json TEXT NOT NULL,
  PRIMARY KEY (scope_id, attempt, position)
);


ALTER TABLE toolwright_claims ADD COLUMN deleted_at_ms BIGINT;
ALTER TABLE toolwright_claims ADD COLUMN happened BIGINT;
CREATE INDEX toolwright_claims_scope ON toolwright_claims (scope_id);
ALTER TABLE toolwright_approvals ADD COLUMN clear_args BIGINT NOT NULL DEFAULT 0;
CREATE INDEX toolwright_approvals_run ON toolwright_approvals (run_id, position);
CREATE INDEX toolwright_runs_created ON toolwright_runs (status, created_at_ms);
CREATE INDEX toolwright_workflow_runs_updated ON toolwright_workflow_runs (status, updated_at_ms);
CREATE INDEX toolwright_cache_expiry ON toolwright_cache (expires_at_ms) WHERE expires_at_ms IS NOT NULL;


CREATE TABLE toolwright_turns (
  run_id        TEXT NOT NULL,
  turn          BIGINT NOT NULL,
  kind          TEXT NOT NULL,
  input_hash    TEXT NOT NULL,
  began_json    TEXT NOT NULL,
  result_json   TEXT,
  started_at_ms BIGINT NOT NULL,
  ended_at_ms   BIGINT,
  PRIMARY KEY (run_id, turn)
);
CREATE INDEX toolwright_turns_open ON toolwright_turns (run_id) WHERE ended_at_ms IS NULL;


CREATE TABLE toolwright_context_items (
  id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  drive         TEXT COLLATE "C" NOT NULL,
  path          TEXT COLLATE "C" NOT NULL,
  version       BIGINT NOT NULL,
  bytes         BIGINT NOT NULL,
  sha256        TEXT NOT NULL,
  source        TEXT,
  created_at_ms BIGINT NOT NULL,
  updated_at_ms BIGINT NOT NULL,
  content       TEXT NOT NULL,
  UNIQUE (drive, path)
);
CREATE TABLE toolwright_context_writes (
  key     TEXT PRIMARY KEY,
  version BIGINT NOT NULL,
  created BIGINT NOT NULL,
  changed BIGINT NOT NULL
);
CREATE TABLE toolwright_context_chunks (
  id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  item_id    BIGINT NOT NULL REFERENCES toolwright_context_items (id) ON DELETE CASCADE,
  position   BIGINT NOT NULL,
  start_char BIGINT NOT NULL,
  chars      BIGINT NOT NULL,
  start_line BIGINT NOT NULL,
  words      TSVECTOR NOT NULL,
  UNIQUE (item_id, position)
);
CREATE INDEX toolwright_context_chunks_words ON toolwright_context_chunks USING GIN (words);
CREATE TABLE toolwright_context_embeddings (
  chunk_id   BIGINT PRIMARY KEY REFERENCES toolwright_context_chunks (id) ON DELETE CASCADE,
  model      TEXT NOT NULL,
  dimensions BIGINT NOT NULL,
  vector     TEXT NOT NULL
);


ALTER TABLE toolwright_turns ADD COLUMN budget_id TEXT;
CREATE INDEX toolwright_turns_input ON toolwright_turns (run_id, input_hash, turn);

INSERT INTO toolwright_approvals (position, id, kind, run_id, node_id, iteration, scope_id, call_key, parent_key, round, tool_name, fingerprint, args_json, args_hash, prompt, defaults_json, contract_json, status, requested_at_ms, expires_at_ms, decided_at_ms, decided_by, comment, approved_args_json, approved_hash, output_json, redeemed_at_ms, clear_args) OVERRIDING SYSTEM VALUE VALUES
('1','apr_xU0_SOqNfmI1xHCGPnbOWy38','call','workflow waiting','refund','0','12','uQ62i0zXoP0K0hojcMqb1NzBCklUX97X6br7QwPOCo4','','1','refund','Pq5N4NVGpzUCnPZuQN1yRKuoVN5yZwcvQxQeSE9nedk','{"id":"workflow"}','57KBGCrcByrAgs-zoDUfJY_YDYPUKILeKQOY2HyI8Zs','May "refund" run with these arguments?',NULL,'{"input":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]},"output":null,"redactInput":[],"redactOutput":[]}','pending','1735689557122',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'0'),
('2','apr_cvD5BsPDYHos9xzGFbvSGHRP','call','errors','main','0','22','nnxHqDfeTvZ4PyFzon8ftWZiPkfCN8v__RYRENfny70','','1','keep_approved','4hJFER3l6AEHTS8UmerjP_-6bW3bQDuQWI91N49Yorw','{"value":{"name":"Error","message":"a"}}','jQSyCqC4kEvRW-dR7X2QGHaRD4xobPRdzXom1UArYWE','May "keep_approved" run with these arguments?',NULL,'{"input":{"type":"object","properties":{"value":{}},"required":["value"]},"output":null,"redactInput":[],"redactOutput":[]}','approved','1735689572815',NULL,'1735689572827',NULL,NULL,NULL,NULL,NULL,NULL,'0'),
('3','apr_PLr5P7FhupqBJzKOmkuZjvvJ','call','refund pending','main','0','23','nrUWxdGcnf29Yh0DybDxZMImAuT5DwsFNI7hmxw3r7c','','1','refund','Pq5N4NVGpzUCnPZuQN1yRKuoVN5yZwcvQxQeSE9nedk','{"id":"pending"}','-HI0UixQJAodWeLYtatC-V1yjnHqZDEVeb8m16Xh9pU','May "refund" run with these arguments?',NULL,'{"input":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]},"output":null,"redactInput":[],"redactOutput":[]}','pending','1735689575318',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'0'),
('4','apr_sRI1SCytpzLHA7-QGyY7oe4N','call','refund approved','main','0','24','5Jna_LGTOiOgxDOAPyhkOlpO1d6zKfkqHtr7aDztaRQ','','1','refund','Pq5N4NVGpzUCnPZuQN1yRKuoVN5yZwcvQxQeSE9nedk','{"id":"approved"}','0cNV10HX3odTRcJZM2FBD8GhXeKlknfsTNGSybzjFaU','May "refund" run with these arguments?',NULL,'{"input":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]},"output":null,"redactInput":[],"redactOutput":[]}','approved','1735689575415',NULL,'1735689575419','ada','about approved',NULL,NULL,NULL,NULL,'0'),
('5','apr_tKy9i3se_Hwt3Q63dCAudFNq','call','refund edited','main','0','25','fySE6Yl1rT0G4RglmdvxDiVeyudTQS-X6X0NvO6okoo','','1','refund','Pq5N4NVGpzUCnPZuQN1yRKuoVN5yZwcvQxQeSE9nedk','{"id":"edited"}','q9qF5yl4gOWB7axJ9KO1M4cCKD4CC4ZRYpfwP0iGwug','May "refund" run with these arguments?',NULL,'{"input":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]},"output":null,"redactInput":[],"redactOutput":[]}','approved','1735689575556',NULL,'1735689575561','ada','about edited','{"id":"edited by a person"}','EdnyeHSTakXwsBV4UPsWITK_MQbaj1WzT47QrrmZvBA',NULL,NULL,'0'),
('6','apr_fwjocd-U51Qx78gO8uu8GcZi','call','refund denied','main','0','26','BZVbcHqdTsInNP6eEZtS4qIKv7mpTjmTBQrMFsUNN5U','','1','refund','Pq5N4NVGpzUCnPZuQN1yRKuoVN5yZwcvQxQeSE9nedk','{"id":"denied"}','xwxEgyBjWA24qw11v44gEVVge1-2bvampSgdeK9-_ng','May "refund" run with these arguments?',NULL,'{"input":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]},"output":null,"redactInput":[],"redactOutput":[]}','denied','1735689575828',NULL,'1735689575843','ada','about denied',NULL,NULL,NULL,NULL,'0'),
('7','apr_CUzZRIGF6eCI53Lb1d00wSQY','replay','notify asked','main','0','28','tzsnssus0FPCOmFpAJtY38tK4L5DQs0K8zrraOJioww','','1','notify','iZViHCoAs-sIC0U8QGuZfEnjtr6qUcDwwQtCPGI_VrQ','{"id":"asked"}','u0pKx0Xszi3KAugo0FSPErl6kHgAw3vV64LvP9dvPHk','A call of "notify" was interrupted, and nobody can tell whether it happened. Did it happen, shall it run again, or give up?',NULL,'{"input":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]},"output":{"type":"object","properties":{"receipt":{"type":"number"}},"required":["receipt"],"additionalProperties":false},"redactInput":[],"redactOutput":[]}','pending','1735689583304',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'0');
SELECT setval(pg_get_serial_sequence('toolwright_approvals', 'position'), (SELECT max(position) FROM toolwright_approvals));
INSERT INTO toolwright_cache (run_id, tool_name, cache_key, output_json, expires_at_ms) VALUES
('','look_up','oIzxA6qvVh9aLa_rqBm0lRb0eISVq3ioXFPcM_kYhEs','{"receipt":27}',NULL),
('cached','look_up_in_run','hUbCm2AwnpIdp6T9g4QwYmDw9jFNniKOYI81TFOV_eY','{"receipt":28}',NULL);
INSERT INTO toolwright_calls (scope_id, attempt, seq, key, idempotency_key, tool_name, unrepeatable, tool_call_id, status, effect, input_json, output_json, error_json, late_json, started_at_ms, finished_at_ms, tries, key_read, replayed_from, from_cache, isolation, approval_id, waits_for, note, owner_id) VALUES
('1','1','1','3lGYD2_a9ChddAJcGUgGG50WxX8MONffHSbpMya6Gwk',NULL,'pay','1',NULL,'success','happened','{"id":"finished first"}','{"receipt":1}',NULL,NULL,'1735689545123','1735689545210','1','1',NULL,'0',NULL,NULL,NULL,NULL,'0fff94ef-c21c-46b5-ac31-b918ef58251a'),
('10','1','8','UZUavbFCnaMYoMoxAEjdtrmudcpmSAmuIjzzF9twfns',NULL,'pay','1','call-6','started',NULL,'{"id":"agent held"}',NULL,NULL,NULL,'1735689553797',NULL,'0',NULL,NULL,'0',NULL,NULL,NULL,NULL,'e803b01b-c788-4922-9a3d-867dcda71b36'),
('10','1','2','R4X10gIkRN_ghvtWgZSPMfqKF3FYSLbz2NFyofamLiM',NULL,'log_in','1','call-2','success','happened','{"user":"agent","password":"[redacted sha256:mlZ8cANTL0tlUy9obou8QWVb9VJL50uA0RC33vDfF-8]"}','{"receipt":11}',NULL,NULL,'1735689553312','1735689553397','1','0',NULL,'0',NULL,NULL,NULL,NULL,'e803b01b-c788-4922-9a3d-867dcda71b36'),
('10','1','7','JjZ7JlDHZP2u86P6VCJF-l_L70jNYtoYcLvnJJlFOyo',NULL,'pay','1','call-5','success','happened','{"id":"agent b"}','{"receipt":14}',NULL,NULL,'1735689553719','1735689553753','1','1',NULL,'0',NULL,NULL,NULL,NULL,'e803b01b-c788-4922-9a3d-867dcda71b36'),
('10','1','3','CSqNYL1WDxFcElvQWVWvjQQ9rqyz4lLeOY3dmCag-2k',NULL,'delegate','0','call-3','success','happened','{"work":"inner"}','"Paid both."',NULL,NULL,'1735689553312','1735689553587','1',NULL,NULL,'0',NULL,NULL,NULL,NULL,'e803b01b-c788-4922-9a3d-867dcda71b36'),
('10','1','1','S0M_gyVxev_vCeflbmNDExq1Yn0b0X1nh3-JDeGoYMI',NULL,'pay','1','call-1','success','happened','{"id":"agent a"}','{"receipt":10}',NULL,NULL,'1735689553312','1735689553336','1','1',NULL,'0',NULL,NULL,NULL,NULL,'e803b01b-c788-4922-9a3d-867dcda71b36'),
('10','1','6','Bfla8Pjp3YOy8DSqdconoDHq1orOPiVa7pLTsHd6uTw',NULL,'pay','1','call-4','success','happened','{"id":"agent a"}','{"receipt":15}',NULL,NULL,'1735689553718','1735689553754','1','1',NULL,'0',NULL,NULL,NULL,NULL,'e803b01b-c788-4922-9a3d-867dcda71b36'),
('11','1','5','i1ESsOD0vE1QiOWxr3lgNC5143Hwfj9nV5h-Dlwm5No',NULL,'pay','1','call-1','success','happened','{"id":"inner a"}','{"receipt":12}',NULL,NULL,'1735689553447','1735689553505','1','1',NULL,'0',NULL,NULL,NULL,NULL,'e803b01b-c788-4922-9a3d-867dcda71b36'),
('11','1','4','IZYuAPMjsNzsnTNX6xT4zNUW2c8UgbT91X_roaJxahY',NULL,'pay','1','call-2','success','happened','{"id":"inner b"}','{"receipt":13}',NULL,NULL,'1735689553447','1735689553522','1','1',NULL,'0',NULL,NULL,NULL,NULL,'e803b01b-c788-4922-9a3d-867dcda71b36'),
('12','1','1','uQ62i0zXoP0K0hojcMqb1NzBCklUX97X6br7QwPOCo4',NULL,'refund','1',NULL,'pending',NULL,'{"id":"workflow"}',NULL,NULL,NULL,'1735689557122',NULL,'0',NULL,NULL,'0',NULL,'apr_xU0_SOqNfmI1xHCGPnbOWy38',NULL,NULL,NULL),
('13','1','3','SF1i-n5916xzZCwMbdtnjvvQCrPjAXNqi1llOVYxgPU',NULL,'pay','1',NULL,'success','happened','{"id":"hook"}','{"receipt":19}',NULL,NULL,'1735689558803','1735689558814','1','1',NULL,'0',NULL,NULL,NULL,NULL,'cbf7be14-9a02-43ab-b6f9-7bdd63c2e31d'),
('13','1','4','0oXaG3W6vVym-KUdC8apLEiOpBljJqf5JhHKo-Y7avo',NULL,'pay','1',NULL,'started',NULL,'{"id":"held"}',NULL,NULL,NULL,'1735689559235',NULL,'0',NULL,NULL,'0',NULL,NULL,NULL,NULL,'cbf7be14-9a02-43ab-b6f9-7bdd63c2e31d'),
('13','1','1','DAHdH5ZbpDVoxxz-eILtXVbiM-kX7WPurXAdbCqlvG0',NULL,'pay','1',NULL,'success','happened','{"id":"bare"}','{"receipt":17}',NULL,NULL,'1735689558761','1735689558794','1','1',NULL,'0',NULL,NULL,NULL,NULL,'cbf7be14-9a02-43ab-b6f9-7bdd63c2e31d'),
('13','1','2','MM5tsUOCxhYIGzlezEgw_vqgayvAQAhMY81EP0H9B30',NULL,'pay','1',NULL,'success','happened','{"id":"bare"}','{"receipt":18}',NULL,NULL,'1735689558797','1735689558801','1','1',NULL,'0',NULL,NULL,NULL,NULL,'cbf7be14-9a02-43ab-b6f9-7bdd63c2e31d'),
('14','1','1','euiCYgcKDMzGgKn1Si-GNfhtBpyP0gcXwX46vMQLHEE',NULL,'pay','1',NULL,'success','happened','{"id":"node"}','{"receipt":20}',NULL,NULL,'1735689558956','1735689558975','1','1',NULL,'0',NULL,NULL,NULL,NULL,'cbf7be14-9a02-43ab-b6f9-7bdd63c2e31d'),
('15','1','1','4n-pLDYnK-TbuUStlu4cPi1IUJsuj390HGP06cGXi1g',NULL,'pay','1',NULL,'success','happened','{"id":"iteration"}','{"receipt":21}',NULL,NULL,'1735689559027','1735689559072','1','1',NULL,'0',NULL,NULL,NULL,NULL,'cbf7be14-9a02-43ab-b6f9-7bdd63c2e31d'),
('16','1','1','6iYyb2SC-dsWxeM9XWQPDTRCc7z8CrfvV8Ul5zKrKCE',NULL,'pay','1',NULL,'success','happened','{"id":"path"}','{"receipt":22}',NULL,NULL,'1735689559124','1735689559212','1','1',NULL,'0',NULL,NULL,NULL,NULL,'cbf7be14-9a02-43ab-b6f9-7bdd63c2e31d'),
('17','1','3','XjtXhLqE5NYWH6gk3URoTg6CgCfHf5aCu5Pr-vKpDT4','LIzFbtuzf7Z2Husv29BoWsQ4zha1iHdgDSI7Hou5CUM','ship','1',NULL,'started',NULL,'{"order":"held"}',NULL,NULL,NULL,'1735689562252',NULL,'0',NULL,NULL,'0',NULL,NULL,NULL,NULL,'c89de3a4-e9e1-40b5-b0b6-a1b7006cc106'),
('17','1','2','vB0RpCpkDNk7SpsMBXAuiE5SXhCYaj7xo8212_EoekY','FDwQglFlUyvmfD2-AI2YK6H-EMMQgdKD3SLjol8zzps','ship','1',NULL,'success','happened','{"order":"two"}','{"receipt":25}',NULL,NULL,'1735689562246','1735689562250','1','1',NULL,'0',NULL,NULL,NULL,NULL,'c89de3a4-e9e1-40b5-b0b6-a1b7006cc106'),
('17','1','1','dLBS3IuQ7KwRRL-c1famOoYgml69ozQ_Uua0F2VqJT4','OTOyJEhCJSndW4ZpUxSmx5kIGxA6rZjGy6Rzc-OwmS4','ship','1',NULL,'success','happened','{"order":"one"}','{"receipt":24}',NULL,NULL,'1735689562205','1735689562243','1','1',NULL,'0',NULL,NULL,NULL,NULL,'c89de3a4-e9e1-40b5-b0b6-a1b7006cc106'),
('18','1','1','nLcqltXEs8CYcz24BXNEwQq3ev3FKQpS0Y3vagp7beg',NULL,'look_up','0',NULL,'success','happened','{"id":"one"}','{"receipt":27}',NULL,NULL,'1735689564922','1735689565009','1',NULL,NULL,'0',NULL,NULL,NULL,NULL,'5088dbd2-19ba-45d6-b1c8-2b4c57754b82'),
('18','1','2','oMcamsidB7Rxp5XHTh4iR4nDNO87l-Ih4R5ZXU575qo',NULL,'look_up_in_run','0',NULL,'success','happened','{"id":"one"}','{"receipt":28}',NULL,NULL,'1735689565034','1735689565037','1',NULL,NULL,'0',NULL,NULL,NULL,NULL,'5088dbd2-19ba-45d6-b1c8-2b4c57754b82'),
('19','1','2','xZ2rQVDGbCrgrA_pc2pyqGxrSirQZWyqnt5vz7brMxY',NULL,'log_in','1',NULL,'success','happened','{"user":"ada","password":"[redacted sha256:rNNQOrPuQolmVg2uLnGs9UUF_2sVdi6KnB9gA5uUs_0]"}','{"receipt":30}',NULL,NULL,'1735689566790','1735689566795','1','0',NULL,'0',NULL,NULL,NULL,NULL,'c17c4721-c46d-42af-8354-7a5dbfbd6c8b'),
('19','1','3','a9gnd0Lwxxz3QYu4MaC3D_J-xFVw2pTho1ijtqNgs7g',NULL,'issue_token','1',NULL,'success','happened','{"user":"ada"}','{"user":"ada","token":"[redacted sha256:X556RnVUxTNv97sfBjf-5TH2PbpDZqxFNXJGEjQDufE]"}',NULL,NULL,'1735689566799','1735689566807','1','0',NULL,'0',NULL,NULL,NULL,NULL,'c17c4721-c46d-42af-8354-7a5dbfbd6c8b'),
('19','1','1','qXrdSeRuwBfERpoyoxBZ1keHMILf19NtvEd4r45NzFw',NULL,'log_in','1',NULL,'success','happened','{"user":"ada","password":"[redacted sha256:mkKmwtFuQyxguYu2lHxtC_LCXhQ31NoAon98_ovj9g0]"}','{"receipt":29}',NULL,NULL,'1735689566707','1735689566787','1','0',NULL,'0',NULL,NULL,NULL,NULL,'c17c4721-c46d-42af-8354-7a5dbfbd6c8b'),
('2','1','1','qEcMJ3F0MtrOvleCme8-diY-fNH8vAz7tXSRKV8RZjA',NULL,'pay','1',NULL,'success','happened','{"id":"loops finished 0"}','{"receipt":2}',NULL,NULL,'1735689547592','1735689547678','1','1',NULL,'0',NULL,NULL,NULL,NULL,'0f2eb448-465a-4834-a0ca-b5f0b8e40961'),
('20','1','4','ERFQYpj1Pl9_DbAkRrBJK7L1awqMDaWL5KpVRjFq1Vo',NULL,'make_value','1',NULL,'success','happened','{"name":"lone surrogate"}', E'"a\\ud800b"',NULL,NULL,'1735689568944','1735689568954','1','0',NULL,'0',NULL,NULL,NULL,NULL,'da55961a-1cb2-4e36-9d70-51bfedc467df'),
('20','1','1','FvLycSgce_UyyeIuxNVa9ljNAJVb6otFXkbT1c56mRc',NULL,'make_value','1',NULL,'success','happened','{"name":"nothing"}','{"$type":"undefined"}',NULL,NULL,'1735689568842','1735689568888','1','0',NULL,'0',NULL,NULL,NULL,NULL,'da55961a-1cb2-4e36-9d70-51bfedc467df'),
('20','1','2','8jO9beBvTUXLJYMVvrjzijWtd1Wzgh6ojAFsGjOlvfI',NULL,'make_value','1',NULL,'success','happened','{"name":"null"}','null',NULL,NULL,'1735689568891','1735689568915','1','0',NULL,'0',NULL,NULL,NULL,NULL,'da55961a-1cb2-4e36-9d70-51bfedc467df'),
('20','1','3','WBCtakrl28P_lJCm3f4305z19sbHwTG4MeupLUEUXLM',NULL,'make_value','1',NULL,'success','happened','{"name":"text"}', E'"quotes \\" and \\\\ and   and 😀"',NULL,NULL,'1735689568922','1735689568938','1','0',NULL,'0',NULL,NULL,NULL,NULL,'da55961a-1cb2-4e36-9d70-51bfedc467df'),
('20','1','5','-ZQV2_FFA8IOORWbITBvRnjC1dN5x4W32u_rrLMybpM',NULL,'make_value','1',NULL,'success','happened','{"name":"numbers"}','[{"$type":"number","value":"NaN"},{"$type":"number","value":"Infinity"},{"$type":"number","value":"-Infinity"},{"$type":"number","value":"-0"},0,1e+21,0.1]',NULL,NULL,'1735689568956','1735689568960','1','0',NULL,'0',NULL,NULL,NULL,NULL,'da55961a-1cb2-4e36-9d70-51bfedc467df'),
('20','1','6','MEatX8hlsKDBme57fha0edyN3elifKzzTZHnBoUgfw8',NULL,'make_value','1',NULL,'success','happened','{"name":"bigint"}','{"$type":"bigint","value":"12345678901234567890"}',NULL,NULL,'1735689568961','1735689568963','1','0',NULL,'0',NULL,NULL,NULL,NULL,'da55961a-1cb2-4e36-9d70-51bfedc467df'),
('20','1','7','mCLr72eiiFDQcltYWdpYLXA5lXaJfIvzZmPNnCzx2p8',NULL,'make_value','1',NULL,'success','happened','{"name":"date"}','{"$type":"date","value":"2024-02-29T12:30:15.123Z"}',NULL,NULL,'1735689568964','1735689568967','1','0',NULL,'0',NULL,NULL,NULL,NULL,'da55961a-1cb2-4e36-9d70-51bfedc467df'),
('20','1','8','8PWDZ5-nadG439YyH7e4fuIccTgBVw3-RGzntIYRbfA',NULL,'make_value','1',NULL,'success','happened','{"name":"invalid date"}','{"$type":"date","value":"invalid"}',NULL,NULL,'1735689568968','1735689568971','1','0',NULL,'0',NULL,NULL,NULL,NULL,'da55961a-1cb2-4e36-9d70-51bfedc467df'),
('20','1','9','n1mVg3H5h2VZ2Kmb90D4yiz5XcsU7oDSZcKaBrrnTpU',NULL,'make_value','1',NULL,'success','happened','{"name":"bytes"}','{"$type":"bytes","value":"AAH+/w=="}',NULL,NULL,'1735689568972','1735689568975','1','0',NULL,'0',NULL,NULL,NULL,NULL,'da55961a-1cb2-4e36-9d70-51bfedc467df'),
('20','1','10','2THQhv8Q48_ubRJwN6xuNb4D3je4pX-Q1CU3J25k_HM',NULL,'make_value','1',NULL,'success','happened','{"name":"map"}','{"$type":"map","value":[["b",1],[{"key":1},{"$type":"set","value":[{"$type":"bigint","value":"1"}]}]]}',NULL,NULL,'1735689568976','1735689568979','1','0',NULL,'0',NULL,NULL,NULL,NULL,'da55961a-1cb2-4e36-9d70-51bfedc467df'),
('20','1','11','PjSYsG3Ccs1Qs9bYtQZBDzM86UBLS3UF5sug3Xj4Ntc',NULL,'make_value','1',NULL,'success','happened','{"name":"set"}','{"$type":"set","value":[3,"b",{"$type":"undefined"}]}',NULL,NULL,'1735689568980','1735689568982','1','0',NULL,'0',NULL,NULL,NULL,NULL,'da55961a-1cb2-4e36-9d70-51bfedc467df'),
('20','1','12','vTLo9zB59yQEztrZc58pRcBZiufAc6OckCOUGEUolW8',NULL,'make_value','1',NULL,'success','happened','{"name":"undefined inside"}','{"a":{"$type":"undefined"},"b":[{"$type":"undefined"},null]}',NULL,NULL,'1735689568983','1735689568985','1','0',NULL,'0',NULL,NULL,NULL,NULL,'da55961a-1cb2-4e36-9d70-51bfedc467df'),
('20','1','13','hXGCeiez0CSCDtNPGmoyBDjvrDYpaI3emTMj4NlC6Kw',NULL,'make_value','1',NULL,'success','happened','{"name":"a tag of ours"}','{"$type":"object","value":[["$type","date"],["value","2024-01-01"],["more",{"$type":"object","value":[["$type",{"$type":"bigint","value":"1"}]]}]]}',NULL,NULL,'1735689568986','1735689568988','1','0',NULL,'0',NULL,NULL,NULL,NULL,'da55961a-1cb2-4e36-9d70-51bfedc467df'),
('20','1','14','gW9a7sP_g6qb6OcsDi8JJu4XBWsbvSjh7rBp3fU_dp8',NULL,'make_value','1',NULL,'success','happened','{"name":"a __proto__ field"}','{"__proto__":{"admin":true},"a":1}',NULL,NULL,'1735689568989','1735689568990','1','0',NULL,'0',NULL,NULL,NULL,NULL,'da55961a-1cb2-4e36-9d70-51bfedc467df'),
('20','1','15','OsTbzucRFIwaMDoYPqEJpNL0nrnSeBWrYdAW_NuyOYk',NULL,'make_value','1',NULL,'success','happened','{"name":"instance"}','{"x":1,"y":2}',NULL,NULL,'1735689568991','1735689568993','1','0',NULL,'0',NULL,NULL,NULL,NULL,'da55961a-1cb2-4e36-9d70-51bfedc467df'),
('20','1','16','7C-AlQlka5_UC8UNj4NBtTkupWvHQX-H7qg3Uu1ioQE',NULL,'make_value','1',NULL,'success','happened','{"name":"url"}','"https://example.org/a?b=c"',NULL,NULL,'1735689568994','1735689568995','1','0',NULL,'0',NULL,NULL,NULL,NULL,'da55961a-1cb2-4e36-9d70-51bfedc467df'),
('20','1','17','I04URtm3wMZtaLbzRqp_EsI1BzmCOHPhva8-oZ_wN3o',NULL,'make_value','1',NULL,'success','happened','{"name":"error"}','{"name":"TypeError","message":"no"}',NULL,NULL,'1735689568997','1735689568999','1','0',NULL,'0',NULL,NULL,NULL,NULL,'da55961a-1cb2-4e36-9d70-51bfedc467df'),
('20','1','18','a3zki6BkR93wtbqVh15V-24FkYSmC4hZ3oneVCvc-CM',NULL,'make_value','1',NULL,'success','happened','{"name":"buffer"}','{"$type":"bytes","value":"YWJj"}',NULL,NULL,'1735689569000','1735689569001','1','0',NULL,'0',NULL,NULL,NULL,NULL,'da55961a-1cb2-4e36-9d70-51bfedc467df'),
('20','1','19','0AHYBAHr745cW2R8JevIER2uUrOEEi3fRNqsB9vhaOI',NULL,'make_value','1',NULL,'success','happened','{"name":"hole"}','[1,{"$type":"undefined"},3]',NULL,NULL,'1735689569002','1735689569004','1','0',NULL,'0',NULL,NULL,NULL,NULL,'da55961a-1cb2-4e36-9d70-51bfedc467df'),
('21','1','32','XxMLfYZine_uKOXANVKi7SrsSD9hDgxMO6p2DMHdHGI',NULL,'keep','1',NULL,'success','happened','{"value":{"z":1,"a":{"$type":"undefined"},"m":[{"d":4,"c":3}]}}','{"receipt":82}',NULL,NULL,'1735689571219','1735689571220','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','23','863FFBnJzs4AC2fF-bJv-Gzr7dNF_14ikV7BSdxzmWc',NULL,'keep','1',NULL,'success','happened','{"value":0}','{"receipt":73}',NULL,NULL,'1735689571201','1735689571202','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','24','pYtE160hBPpaDinZ7jt3Z6OmlHFM8UCm5mHv45HrFvI',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"number","value":"-0"}}','{"receipt":74}',NULL,NULL,'1735689571204','1735689571205','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','25','YKbLAEUx7Z0fVANKRVuaRQqVZ9C7r-2Ebs4Ks8-tPX0',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"undefined"}}','{"receipt":75}',NULL,NULL,'1735689571206','1735689571207','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','26','dWJoO0Owr0lH92Zn-r-pt52zhazKXQxWVehjZ1qR6uQ',NULL,'keep','1',NULL,'success','happened','{"value":{"x":1,"y":2}}','{"receipt":76}',NULL,NULL,'1735689571208','1735689571209','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','27','V5nQX3tgpdaepG5MKg9lHVwmmiZw5XnnkPhnct-ptl8',NULL,'keep','1',NULL,'success','happened','{"value":{"x":1,"y":2}}','{"receipt":77}',NULL,NULL,'1735689571210','1735689571211','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','28','nQZthj7IbT3ENbXCw68jXKg2gw3LooZxjrBM_H-19Kg',NULL,'keep','1',NULL,'success','happened','{"value":"https://example.org/"}','{"receipt":78}',NULL,NULL,'1735689571212','1735689571213','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','29','8pYInQw1-dbIecc5Vs9A98jPveyrfD2Jt_tp0aqtztU',NULL,'keep','1',NULL,'success','happened','{"value":"https://example.org/"}','{"receipt":79}',NULL,NULL,'1735689571214','1735689571215','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','30','0ctxH2ZcPuMnH3fUMMH49NV70EOORU8idqXx5KW6kJE',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"object","value":[["$type","date"],["value","1970-01-02"]]}}','{"receipt":80}',NULL,NULL,'1735689571215','1735689571216','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','31','G6NQq6rsDdMH3qvqTzKqMNrOxqZsZQHSLmKfiNwl2rQ',NULL,'keep','1',NULL,'success','happened','{"value":{"__proto__":{"admin":true},"a":1}}','{"receipt":81}',NULL,NULL,'1735689571217','1735689571218','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','5','UA95E1P-R97qkGGZ-_Twm9BaP2Wz8qKQKZNOjRsNKL4',NULL,'keep','1',NULL,'success','happened','{"value":[]}','{"receipt":55}',NULL,NULL,'1735689570977','1735689570992','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','33','zLV6_DBjDoiPbVRBsi3EzlPWshbsmnSiUYtMYrmDfIs',NULL,'keep','1',NULL,'success','happened', E'{"value":"a\\ud800b"}','{"receipt":83}',NULL,NULL,'1735689571221','1735689571222','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','34','mFSpdCyXOcSOHICr1dZnpYQWUg2rT_uY6JgbBXdfVN8',NULL,'pay','1',NULL,'started',NULL,'{"id":"arguments held"}',NULL,NULL,NULL,'1735689571223',NULL,'0',NULL,NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','1','XzDj3JCQ3FQv483Rsppv33QnxVgUNyU7nUxYWg900Ok',NULL,'keep','1',NULL,'success','happened','{"value":{"name":"Error","message":"a"}}','{"receipt":51}',NULL,NULL,'1735689570879','1735689570897','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','2','A62fj4xw4fGejhcW1aruNMUG-aCVcjZHUEUpie9DCjU',NULL,'keep','1',NULL,'success','happened','{"value":{"name":"Error","message":"b"}}','{"receipt":52}',NULL,NULL,'1735689570899','1735689570902','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','3','E3IsqK22tvdFd6BsjkmkBrrnS80Fbu30QSyU_b4ZKMI',NULL,'keep','1',NULL,'success','happened','{"value":{"name":"Error","message":"c"}}','{"receipt":53}',NULL,NULL,'1735689570903','1735689570910','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','4','099w4zm35yebEjFWtRYVEaFlA3zPXXqD7SrBocrWZj0',NULL,'keep','1',NULL,'success','happened','{"value":{}}','{"receipt":54}',NULL,NULL,'1735689570917','1735689570943','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','6','6ME6_vC36a1l0iNhYhMJh-xxeNgF5EZ7kaecbz0kc34',NULL,'keep','1',NULL,'success','happened','{"value":[{"$type":"undefined"}]}','{"receipt":56}',NULL,NULL,'1735689571014','1735689571042','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','7','4-k9uoYueya3lsl08lGwXudG6k1qyRMfmlrPljQMxNY',NULL,'keep','1',NULL,'success','happened','{"value":[{"$type":"undefined"},{"$type":"undefined"}]}','{"receipt":57}',NULL,NULL,'1735689571044','1735689571081','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','8','h7eH_mc7IDHp9cTuhZMd-0T7vQJglmq8gC_bRaRrmIo',NULL,'keep','1',NULL,'success','happened','{"value":[1,{"$type":"undefined"},3]}','{"receipt":58}',NULL,NULL,'1735689571112','1735689571134','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','9','pIeZhMqbArSNQWcgOAE5g78vdrzugJMovHf0ftdIEw4',NULL,'keep','1',NULL,'success','happened','{"value":[1,{"$type":"undefined"},3]}','{"receipt":59}',NULL,NULL,'1735689571142','1735689571153','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','10','GaeqitRAYwltpXAxyP6l7ELm7DLb0ADgK_N2rHqH_4U',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"bytes","value":"YWJj"}}','{"receipt":60}',NULL,NULL,'1735689571155','1735689571159','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','11','BB8DyTjCTPPHWduAIE1ygJmd0hlL0nOjmjWrCBK4CsI',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"bytes","value":"YWJj"}}','{"receipt":61}',NULL,NULL,'1735689571160','1735689571163','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','12','2WBBAQ2qtwODlKCb11r_UN7hTs_-odr4u4vjKfNVqjI',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"date","value":"1970-01-02T00:00:00.000Z"}}','{"receipt":62}',NULL,NULL,'1735689571164','1735689571168','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','13','fVuv2LEXRo2Kt5dIjpqHQNylz8Ru0AlhZ_duwS_XVFk',NULL,'keep','1',NULL,'success','happened','{"value":"1970-01-02T00:00:00.000Z"}','{"receipt":63}',NULL,NULL,'1735689571169','1735689571178','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','14','tNnARvV7nTzaLB7petw6v9Ua_XuIeLH_9FUv8mlHAdc',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"date","value":"invalid"}}','{"receipt":64}',NULL,NULL,'1735689571179','1735689571180','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','15','r5R_z4wHU-krQLVTSi1WbXKn1gfPfm_MhoGg3Qf1Vn4',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"map","value":[["b",1],["a",{"deep":[{"$type":"bigint","value":"1"}]}]]}}','{"receipt":65}',NULL,NULL,'1735689571181','1735689571182','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','16','v5vyqv8hJLHcGXMWsZBpbaUMyKF06Zqx6Rd6HLcGZYM',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"set","value":[2,1]}}','{"receipt":66}',NULL,NULL,'1735689571183','1735689571185','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','17','fnBrIhwnFH_rqYFy1imeTwjcP323lJswUu31X_Sj-dU',NULL,'keep','1',NULL,'success','happened','{"value":[2,1]}','{"receipt":67}',NULL,NULL,'1735689571186','1735689571188','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','18','GXSP_JpjqLTzKxpvVtsw4TlsqD02yROix0-tXg7T_lc',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"bigint","value":"1"}}','{"receipt":68}',NULL,NULL,'1735689571188','1735689571190','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','19','TZ3ngL5eHlcfjWbL0GWfhXTNETRQsqfL6_VzohrhUjU',NULL,'keep','1',NULL,'success','happened','{"value":1}','{"receipt":69}',NULL,NULL,'1735689571191','1735689571192','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','20','jAYd8YlH4TfLtEbNy4-5QTIhFlnAhOT1x4OY4RzqNKU',NULL,'keep','1',NULL,'success','happened','{"value":"1"}','{"receipt":70}',NULL,NULL,'1735689571193','1735689571194','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','21','hlOq5yuYIXdhhBuGBaf1W9m1KudIoMOXg56uDLfSBUs',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"number","value":"NaN"}}','{"receipt":71}',NULL,NULL,'1735689571195','1735689571197','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('21','1','22','iaYe8fJvjAejnEk-mZPnFeCZfuqw0ndM2yIrxAEdvNg',NULL,'keep','1',NULL,'success','happened','{"value":null}','{"receipt":72}',NULL,NULL,'1735689571198','1735689571200','1','0',NULL,'0',NULL,NULL,NULL,NULL,'ba5046fb-a70e-4091-9121-6a785079d658'),
('22','1','3','L7UqUr3ESRVcvIIQI7eVuzRKuecUSuAXZcqCzpJaZM8','dcuzoINliprPQ9cGUF_-H3ZAApbtLi2urAjb-_mRSKI','keep_once','1',NULL,'success','happened','{"order":"one","value":{"name":"Error","message":"a"}}','{"receipt":86}',NULL,NULL,'1735689572925','1735689572931','1','0',NULL,'0',NULL,NULL,NULL,NULL,'17633de6-1b48-4b60-ba85-0ec68cc81aaf'),
('22','1','2','H2xM7GzWg7IvYuyt1io8dbFTHWCekpIci7d8NhM4WAg',NULL,'keep_hidden','1',NULL,'success','happened','{"value":"[redacted sha256:sYBX1lyP0CneK7bSAKj9qGKjWJSf_9PX-rE2gtl52Ls]"}','{"receipt":85}',NULL,NULL,'1735689572840','1735689572915','1','0',NULL,'0',NULL,NULL,NULL,NULL,'17633de6-1b48-4b60-ba85-0ec68cc81aaf'),
('22','1','1','nnxHqDfeTvZ4PyFzon8ftWZiPkfCN8v__RYRENfny70',NULL,'keep_approved','1',NULL,'pending',NULL,'{"value":{"name":"Error","message":"a"}}',NULL,NULL,NULL,'1735689572815',NULL,'0',NULL,NULL,'0',NULL,'apr_cvD5BsPDYHos9xzGFbvSGHRP',NULL,NULL,NULL),
('23','1','1','nrUWxdGcnf29Yh0DybDxZMImAuT5DwsFNI7hmxw3r7c',NULL,'refund','1',NULL,'pending',NULL,'{"id":"pending"}',NULL,NULL,NULL,'1735689575318',NULL,'0',NULL,NULL,'0',NULL,'apr_PLr5P7FhupqBJzKOmkuZjvvJ',NULL,NULL,NULL),
('24','1','1','5Jna_LGTOiOgxDOAPyhkOlpO1d6zKfkqHtr7aDztaRQ',NULL,'refund','1',NULL,'pending',NULL,'{"id":"approved"}',NULL,NULL,NULL,'1735689575415',NULL,'0',NULL,NULL,'0',NULL,'apr_sRI1SCytpzLHA7-QGyY7oe4N',NULL,NULL,NULL),
('25','1','1','fySE6Yl1rT0G4RglmdvxDiVeyudTQS-X6X0NvO6okoo',NULL,'refund','1',NULL,'pending',NULL,'{"id":"edited"}',NULL,NULL,NULL,'1735689575556',NULL,'0',NULL,NULL,'0',NULL,'apr_tKy9i3se_Hwt3Q63dCAudFNq',NULL,NULL,NULL),
('26','1','1','BZVbcHqdTsInNP6eEZtS4qIKv7mpTjmTBQrMFsUNN5U',NULL,'refund','1',NULL,'pending',NULL,'{"id":"denied"}',NULL,NULL,NULL,'1735689575828',NULL,'0',NULL,NULL,'0',NULL,'apr_fwjocd-U51Qx78gO8uu8GcZi',NULL,NULL,NULL),
('27','1','1','5xgYP0RYZTez1Z1PytPt3Yh1WihKM_qYWC5Bi57JTA8',NULL,'notify','1',NULL,'started',NULL,'{"id":"held"}',NULL,NULL,NULL,'1735689578103',NULL,'0',NULL,NULL,'0',NULL,NULL,NULL,NULL,'dae1ad42-332b-4bae-88a1-12ac75ffe888'),
('28','1','1','tzsnssus0FPCOmFpAJtY38tK4L5DQs0K8zrraOJioww',NULL,'notify','1',NULL,'pending',NULL,'{"id":"asked"}',NULL,NULL,NULL,'1735689580548',NULL,'0',NULL,NULL,'0',NULL,NULL,'apr_CUzZRIGF6eCI53Lb1d00wSQY',NULL,'fd3b2d32-c994-4290-b032-08c61253f50c'),
('29','1','2','G5FqJHkfXkqcil_ger3_E5D0crN-WxPQWm6AiZ6HD74',NULL,'pay','1','call-2','success','happened','{"id":"sdk b"}','{"receipt":90}',NULL,NULL,'1735689585831','1735689585999','1','1',NULL,'0',NULL,NULL,NULL,NULL,'2c257eb1-3125-4101-a214-5ea762392c07'),
('29','1','3','uT_o6NSzIZcCDAAiGma_-0EWV942umHqAn-U2EgHBrU',NULL,'pay','1','call-3','started',NULL,'{"id":"sdk held"}',NULL,NULL,NULL,'1735689586029',NULL,'0',NULL,NULL,'0',NULL,NULL,NULL,NULL,'2c257eb1-3125-4101-a214-5ea762392c07'),
('29','1','1','HoHhNn2uj7JlH1C2p5mvKNdh1khSWnGbIbywUXNcrMY',NULL,'pay','1','call-1','success','happened','{"id":"sdk a"}','{"receipt":89}',NULL,NULL,'1735689585831','1735689585975','1','1',NULL,'0',NULL,NULL,NULL,NULL,'2c257eb1-3125-4101-a214-5ea762392c07'),
('3','1','1','WeTIchZFRmua3asfJJ4cdW5hYW4071i4jIckTwcwHEA',NULL,'pay','1',NULL,'success','happened','{"id":"loops finished 1"}','{"receipt":3}',NULL,NULL,'1735689547712','1735689547717','1','1',NULL,'0',NULL,NULL,NULL,NULL,'0f2eb448-465a-4834-a0ca-b5f0b8e40961'),
('30','1','2','xUyjxj4ylh1G13BdRiqJIJeqAswnZyvCkhk5eEolefw',NULL,'pay','1','call-2','success','happened','{"id":"recorded b"}','{"receipt":93}',NULL,NULL,'1735689588081','1735689588148','1','1',NULL,'0',NULL,NULL,NULL,NULL,'1ffcd921-3088-4d00-b853-1247c7987f41'),
('30','1','1','LsKv0BksgV6uladZOQl_oSS17GqR-8rnJs0aNc2hrZY',NULL,'pay','1','call-1','success','happened','{"id":"recorded a"}','{"receipt":92}',NULL,NULL,'1735689588081','1735689588141','1','1',NULL,'0',NULL,NULL,NULL,NULL,'1ffcd921-3088-4d00-b853-1247c7987f41'),
('30','1','3','dhvmOkSkdgaFc8bHUJzocHzN9S-pQ_FzZimzO-nGeD8',NULL,'pay','1','call-3','started',NULL,'{"id":"recorded held"}',NULL,NULL,NULL,'1735689588153',NULL,'0',NULL,NULL,'0',NULL,NULL,NULL,NULL,'1ffcd921-3088-4d00-b853-1247c7987f41'),
('31','1','2','DF_siBerFwyusnfoIPMG8QtLUXL9pULVLwfYH2IvVLI',NULL,'pay','1','call-2','success','happened','{"id":"anthropic b"}','{"receipt":96}',NULL,NULL,'1735689591721','1735689591947','1','1',NULL,'0',NULL,NULL,NULL,NULL,'b1b2d5d6-6ec2-40bc-a0fa-89bea588cb08'),
('31','1','3','zC_g2GCYNAW2Z-N2qg4_qSlQ68vcmvWuqaHrHjplzyM',NULL,'pay','1','call-3','started',NULL,'{"id":"anthropic held"}',NULL,NULL,NULL,'1735689592036',NULL,'0',NULL,NULL,'0',NULL,NULL,NULL,NULL,'b1b2d5d6-6ec2-40bc-a0fa-89bea588cb08'),
('31','1','1','r3u6p08cfSWTnCjiCccQ2LfrwwLnZVDMpJzeVuFc-G8',NULL,'pay','1','call-1','success','happened','{"id":"anthropic a"}','{"receipt":95}',NULL,NULL,'1735689591720','1735689591896','1','1',NULL,'0',NULL,NULL,NULL,NULL,'b1b2d5d6-6ec2-40bc-a0fa-89bea588cb08'),
('32','1','1','31Dr-_IZnbe50ACJCkbC5RWBFuMv1ytEXc0o-I4VGdw',NULL,'pay','1','call-1','success','happened','{"id":"chat"}','{"receipt":98}',NULL,NULL,'1735689594653','1735689594695','1','1',NULL,'0',NULL,NULL,NULL,NULL,'3fe28fab-07f1-479e-8b30-32bc7943a675'),
('33','1','2','61JausoQxICF1K_HplGS36uTAOzlVLG3CWEJ0jWUoeY',NULL,'pay','1','call-2','success','happened','{"id":"smart b"}','{"receipt":100}',NULL,NULL,'1735689597299','1735689597403','1','1',NULL,'0',NULL,NULL,NULL,NULL,'643a6269-d5fc-4b60-bb97-89a3f474d365'),
('33','1','3','eMPkI1ESWiuUa7oqskggF83GUhO_9amyVFR2GpyX5tA',NULL,'pay','1','call-3','started',NULL,'{"id":"smart held"}',NULL,NULL,NULL,'1735689597416',NULL,'0',NULL,NULL,'0',NULL,NULL,NULL,NULL,'643a6269-d5fc-4b60-bb97-89a3f474d365'),
('33','1','1','jDPMnabDjZTzRdpO4zNCEIpSbggIjIyuxgMeG_vP7ZQ',NULL,'pay','1','call-1','success','happened','{"id":"smart a"}','{"receipt":99}',NULL,NULL,'1735689597298','1735689597370','1','1',NULL,'0',NULL,NULL,NULL,NULL,'643a6269-d5fc-4b60-bb97-89a3f474d365'),
('34','1','1','MnqHLGbxgsXwSLBU3v9DOVjJUaNGzn8dth646z5-T0E',NULL,'pay','1','call-1','success','happened','{"id":"smart finished"}','{"receipt":102}',NULL,NULL,'1735689599504','1735689599579','1','1',NULL,'0',NULL,NULL,NULL,NULL,'2a80f60d-e93e-42ba-93fc-ecc0e70e5c33'),
('4','1','1','1WcpKMTKxDAM7wmnibv_Ex_fwMCBbv1DAVHIbPlXnS0',NULL,'pay','1',NULL,'success','happened','{"id":"loops finished 2"}','{"receipt":4}',NULL,NULL,'1735689547727','1735689547734','1','1',NULL,'0',NULL,NULL,NULL,NULL,'0f2eb448-465a-4834-a0ca-b5f0b8e40961'),
('5','1','1','lSmUqNa63s6rVj0GlVOLxXe3EBMUL79_wZv5ocY8Ilk',NULL,'pay','1',NULL,'success','happened','{"id":"loops finished 3"}','{"receipt":5}',NULL,NULL,'1735689547832','1735689547846','1','1',NULL,'0',NULL,NULL,NULL,NULL,'0f2eb448-465a-4834-a0ca-b5f0b8e40961'),
('6','1','1','U3G0SHAxuf9-HHiZzMKo_6Mwi2WpQ_bh4ZcxcIJao9U',NULL,'pay','1',NULL,'success','happened','{"id":"loops 0"}','{"receipt":6}',NULL,NULL,'1735689550258','1735689550359','1','1',NULL,'0',NULL,NULL,NULL,NULL,'201fcecc-f5dd-42fa-985c-4b48a51e2eab'),
('7','1','1','6QGqUaRBiRe50Xs7OEV58bWWpM2ZbnrKd4LgEjZDoFw',NULL,'pay','1',NULL,'success','happened','{"id":"loops 1"}','{"receipt":7}',NULL,NULL,'1735689550552','1735689550580','1','1',NULL,'0',NULL,NULL,NULL,NULL,'201fcecc-f5dd-42fa-985c-4b48a51e2eab'),
('8','1','1','fIlHbIfM0nYx2f_QUW9RpKXJvMNHnsHI6mCmzfgXFiQ',NULL,'pay','1',NULL,'started',NULL,'{"id":"loops held"}',NULL,NULL,NULL,'1735689550706',NULL,'0',NULL,NULL,'0',NULL,NULL,NULL,NULL,'201fcecc-f5dd-42fa-985c-4b48a51e2eab'),
('9','1','1','0BU6RjOecGqYSIe7QXhw3tBcGx7X2WxsKsx5RcbZ2ao',NULL,'pay','1',NULL,'success','happened','{"id":"interrupted first"}','{"receipt":9}',NULL,NULL,'1735689553119','1735689553176','1','1',NULL,'0',NULL,NULL,NULL,NULL,'e803b01b-c788-4922-9a3d-867dcda71b36');
INSERT INTO toolwright_claims (idempotency_key, tool_name, args_hash, scope_id, call_key, attempt, deleted_at_ms, happened) VALUES
('FDwQglFlUyvmfD2-AI2YK6H-EMMQgdKD3SLjol8zzps','ship','qw7W1KUW9EK3qaxXp_pgixI3NlHSz0m0YY8e98xoM4k','17','vB0RpCpkDNk7SpsMBXAuiE5SXhCYaj7xo8212_EoekY','1',NULL,NULL),
('LIzFbtuzf7Z2Husv29BoWsQ4zha1iHdgDSI7Hou5CUM','ship','JpdbE-EY4LF11GpBCt3hxmTS2IEuWWR_r1h1hy-Y-zU','17','XjtXhLqE5NYWH6gk3URoTg6CgCfHf5aCu5Pr-vKpDT4','1',NULL,NULL),
('OTOyJEhCJSndW4ZpUxSmx5kIGxA6rZjGy6Rzc-OwmS4','ship','FlQOcikJqh9cIxwNhEbGI3IAtvzhZ81chx4glYk2mnU','17','dLBS3IuQ7KwRRL-c1famOoYgml69ozQ_Uua0F2VqJT4','1',NULL,NULL),
('dcuzoINliprPQ9cGUF_-H3ZAApbtLi2urAjb-_mRSKI','keep_once','0Z3V6942jks-iJGtgFUgGFR6eDQELz_o7tpuZD-lhhs','22','L7UqUr3ESRVcvIIQI7eVuzRKuecUSuAXZcqCzpJaZM8','1',NULL,NULL);
INSERT INTO toolwright_loops (run_id, place) VALUES
('loops finished',' 2'),
('loops finished','0 1'),
('loops finished','1 1'),
('loops interrupted','0 1');
INSERT INTO toolwright_meta (name, value) VALUES
('secret','FpKLolFsolC8xkncTIs4HsxzV5JgsL1NJwuQbcr0hBI'),
('version','6'),
('view output','["orders"]'),
('view paid','["id","receipt"]'),
('view values','["at","amounts"]');
INSERT INTO toolwright_owners (id, host, pid, process_start, lease_until_ms, ended_at_ms) VALUES
('0f2eb448-465a-4834-a0ca-b5f0b8e40961','elsewhere','1','0','1735689577507','1735689547904'),
('0fff94ef-c21c-46b5-ac31-b918ef58251a','elsewhere','1','0','1735689575036','1735689545260'),
('17633de6-1b48-4b60-ba85-0ec68cc81aaf','elsewhere','1','0','1735689602793','1735689572937'),
('1ffcd921-3088-4d00-b853-1247c7987f41','elsewhere','1','0','1735689617965',NULL),
('201fcecc-f5dd-42fa-985c-4b48a51e2eab','elsewhere','1','0','1735689580072',NULL),
('2a80f60d-e93e-42ba-93fc-ecc0e70e5c33','elsewhere','1','0','1735689629399','1735689599679'),
('2c257eb1-3125-4101-a214-5ea762392c07','elsewhere','1','0','1735689615704',NULL),
('337ca5f6-15db-49e2-b036-585a502e6cda','elsewhere','1','0','1735689605800','1735689575843'),
('3fe28fab-07f1-479e-8b30-32bc7943a675','elsewhere','1','0','1735689624471','1735689594733'),
('5088dbd2-19ba-45d6-b1c8-2b4c57754b82','elsewhere','1','0','1735689594896','1735689565047'),
('643a6269-d5fc-4b60-bb97-89a3f474d365','elsewhere','1','0','1735689627271',NULL),
('77461ff9-7b0d-4620-b658-53ef035c79a4','elsewhere','1','0','1735689605622','1735689575691'),
('7c79ec0e-56b4-48e4-bdb6-3b9f88cd9b04','elsewhere','1','0','1735689605535','1735689575560'),
('86f3173c-9752-4d06-abfe-8d9571daeb1c','elsewhere','1','0','1735689605286','1735689575328'),
('99a0ae4c-79ed-481d-94d5-ddc31dc69f36','elsewhere','1','0','1735689605887','1735689575909'),
('acfa16e4-2fc5-40a5-962a-851ffb3bff6c','elsewhere','1','0','1735689587017','1735689557172'),
('b1b2d5d6-6ec2-40bc-a0fa-89bea588cb08','elsewhere','1','0','1735689621481',NULL),
('b62233f5-c596-484a-9691-a2bbb7e448fb','elsewhere','1','0','1735689605484','1735689575496'),
('ba5046fb-a70e-4091-9121-6a785079d658','elsewhere','1','0','1735689600865',NULL),
('c17c4721-c46d-42af-8354-7a5dbfbd6c8b','elsewhere','1','0','1735689596676','1735689566816'),
('c89de3a4-e9e1-40b5-b0b6-a1b7006cc106','elsewhere','1','0','1735689592112',NULL),
('cbe908e9-ed51-4bd1-b930-0b86bb7e3ab5','elsewhere','1','0','1735689605389','1735689575419'),
('cbf7be14-9a02-43ab-b6f9-7bdd63c2e31d','elsewhere','1','0','1735689588736',NULL),
('d37e96d8-8b16-43e8-ba41-84aa7e3b0c4c','elsewhere','1','0','1735689613255','1735689583326'),
('da55961a-1cb2-4e36-9d70-51bfedc467df','elsewhere','1','0','1735689598815','1735689569007'),
('dae1ad42-332b-4bae-88a1-12ac75ffe888','elsewhere','1','0','1735689608050',NULL),
('e803b01b-c788-4922-9a3d-867dcda71b36','elsewhere','1','0','1735689583037',NULL),
('fd3b2d32-c994-4290-b032-08c61253f50c','elsewhere','1','0','1735689610519',NULL);
INSERT INTO toolwright_responses (scope_id, attempt, position, request_hash, response_json) VALUES
('10','1','0','EkleGcBdpal7a602WwONTh2gUXNsMldUVANmwBeCcV0', E'{"content":[{"type":"tool-call","toolCallId":"call-1","toolName":"pay","input":"{\\"id\\":\\"agent a\\"}"},{"type":"tool-call","toolCallId":"call-2","toolName":"log_in","input":"{\\"user\\":\\"agent\\",\\"password\\":\\"the agent''s secret\\"}"},{"type":"tool-call","toolCallId":"call-3","toolName":"delegate","input":"{\\"work\\":\\"inner\\"}"}],"finishReason":{"unified":"tool-calls","raw":{"$type":"undefined"}},"usage":{"inputTokens":{"total":10,"noCache":10,"cacheRead":0,"cacheWrite":0},"outputTokens":{"total":5,"text":5,"reasoning":0}},"warnings":[]}'),
('10','1','1','TD2XRCj5gVlyXowVJuMIHtBXw254xV43p4VYNNk0_NM', E'{"content":[{"type":"tool-call","toolCallId":"call-4","toolName":"pay","input":"{\\"id\\":\\"agent a\\"}"},{"type":"tool-call","toolCallId":"call-5","toolName":"pay","input":"{\\"id\\":\\"agent b\\"}"}],"finishReason":{"unified":"tool-calls","raw":{"$type":"undefined"}},"usage":{"inputTokens":{"total":10,"noCache":10,"cacheRead":0,"cacheWrite":0},"outputTokens":{"total":5,"text":5,"reasoning":0}},"warnings":[]}'),
('10','1','2','f-FVtIH3W0eEEmygGCE8k6HNQSkKTTkl-XRaMO0gCtM', E'{"content":[{"type":"tool-call","toolCallId":"call-6","toolName":"pay","input":"{\\"id\\":\\"agent held\\"}"}],"finishReason":{"unified":"tool-calls","raw":{"$type":"undefined"}},"usage":{"inputTokens":{"total":10,"noCache":10,"cacheRead":0,"cacheWrite":0},"outputTokens":{"total":5,"text":5,"reasoning":0}},"warnings":[]}'),
('30','1','4522417551263726','oFQ57G5YF_3gi5M55BMKKfyu10p6mt6AHtzKkqV4YcY', E'{"content":[{"type":"tool-call","toolCallId":"call-1","toolName":"pay","input":"{\\"id\\":\\"recorded a\\"}"},{"type":"tool-call","toolCallId":"call-2","toolName":"pay","input":"{\\"id\\":\\"recorded b\\"}"}],"finishReason":{"unified":"tool-calls","raw":{"$type":"undefined"}},"usage":{"inputTokens":{"total":10,"noCache":10,"cacheRead":0,"cacheWrite":0},"outputTokens":{"total":5,"text":5,"reasoning":0}},"warnings":[]}'),
('30','1','4624010147779465','dovABLNcorjAuMIKptg8PfFnLp_j8Sm-TvmxppiVBwM', E'{"content":[{"type":"tool-call","toolCallId":"call-3","toolName":"pay","input":"{\\"id\\":\\"recorded held\\"}"}],"finishReason":{"unified":"tool-calls","raw":{"$type":"undefined"}},"usage":{"inputTokens":{"total":10,"noCache":10,"cacheRead":0,"cacheWrite":0},"outputTokens":{"total":5,"text":5,"reasoning":0}},"warnings":[]}'),
('31','1','0','IamLGM1m-WwopVBO0iNXYR8R2LgGrGCImA5Mz6D69IE','{"steered":[],"response":{"message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-test","content":[{"type":"tool_use","id":"call-1","name":"pay","caller":{"type":"direct"},"input":{"id":"anthropic a"}},{"type":"tool_use","id":"call-2","name":"pay","caller":{"type":"direct"},"input":{"id":"anthropic b"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":5}},"malformed":{}}}'),
('31','1','1','6SOnNmBVLHUXKxdsBdyTwjq8b_HSwNcn2FbwTNPcpg0','{"steered":[],"response":{"message":{"id":"msg_2","type":"message","role":"assistant","model":"claude-test","content":[{"type":"tool_use","id":"call-3","name":"pay","caller":{"type":"direct"},"input":{"id":"anthropic held"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":5}},"malformed":{}}}'),
('33','1','0','SaM12Kj0tXtK-4Y-wTwWHyiMPxjUe5fY9Dz9LbSx9vQ', E'{"answer":{"text":"","calls":[{"id":"call-1","name":"pay","arguments":"{\\"id\\":\\"smart a\\"}"},{"id":"call-2","name":"pay","arguments":"{\\"id\\":\\"smart b\\"}"}],"finish":"done","usage":{"inputTokens":10,"outputTokens":5,"cachedInputTokens":0},"provider":{"kind":"ai-sdk","content":[{"type":"tool-call","toolCallId":"call-1"},{"type":"tool-call","toolCallId":"call-2"}]}}}'),
('33','1','1','_BGBGd3n50zTe6SNEJNgEzpOEi7S_8cYiU-WvRJD92E', E'{"answer":{"text":"","calls":[{"id":"call-3","name":"pay","arguments":"{\\"id\\":\\"smart held\\"}"}],"finish":"done","usage":{"inputTokens":10,"outputTokens":5,"cachedInputTokens":0},"provider":{"kind":"ai-sdk","content":[{"type":"tool-call","toolCallId":"call-3"}]}}}');
INSERT INTO toolwright_runs (id, status, created_at_ms, updated_at_ms) VALUES
('ai-sdk','open','1735689585730','1735689585730'),
('ai-sdk recorded','open','1735689587974','1735689587974'),
('anthropic','open','1735689591503','1735689591503'),
('anthropic chat','open','1735689594510','1735689594510'),
('arguments','open','1735689570869','1735689570869'),
('bare','open','1735689558739','1735689558739'),
('business','open','1735689562134','1735689562134'),
('cached','open','1735689564900','1735689564900'),
('errors','open','1735689572798','1735689572798'),
('loops finished','open','1735689547568','1735689547568'),
('loops interrupted','open','1735689550212','1735689550212'),
('notify asked','open','1735689580520','1735689580520'),
('notify held','open','1735689578062','1735689578062'),
('outputs','open','1735689568820','1735689568820'),
('redacted','open','1735689566683','1735689566683'),
('refund approved','open','1735689575389','1735689575389'),
('refund denied','open','1735689575802','1735689575802'),
('refund edited','open','1735689575538','1735689575538'),
('refund pending','open','1735689575288','1735689575288'),
('smart agent','open','1735689597278','1735689597278'),
('smart agent finished','open','1735689599415','1735689599415'),
('workflow finished','open','1735689545099','1735689545099'),
('workflow interrupted','open','1735689553113','1735689553113'),
('workflow waiting','open','1735689557079','1735689557079');
INSERT INTO toolwright_scopes (id, run_id, node_id, iteration, path, parent_key, attempt, epoch, owner_id) OVERRIDING SYSTEM VALUE VALUES
('1','workflow finished','first','0','0','','1','2',NULL),
('10','workflow interrupted','agent','0','0','','1','2','e803b01b-c788-4922-9a3d-867dcda71b36'),
('11','workflow interrupted','agent','0','0','CSqNYL1WDxFcElvQWVWvjQQ9rqyz4lLeOY3dmCag-2k','1','1',NULL),
('12','workflow waiting','refund','0','0','','1','2',NULL),
('13','bare','main','0','0','','1','1',NULL),
('14','bare','other','0','0','','1','1',NULL),
('15','bare','other','3','3','','1','1',NULL),
('16','bare','other','2','1.2','','1','1',NULL),
('17','business','main','0','0','','1','1',NULL),
('18','cached','main','0','0','','1','1',NULL),
('19','redacted','main','0','0','','1','1',NULL),
('2','loops finished','pay','0','0.0','','1','2',NULL),
('20','outputs','main','0','0','','1','1',NULL),
('21','arguments','main','0','0','','1','2','ba5046fb-a70e-4091-9121-6a785079d658'),
('22','errors','main','0','0','','1','1',NULL),
('23','refund pending','main','0','0','','1','1',NULL),
('24','refund approved','main','0','0','','1','1',NULL),
('25','refund edited','main','0','0','','1','1',NULL),
('26','refund denied','main','0','0','','1','1',NULL),
('27','notify held','main','0','0','','1','1',NULL),
('28','notify asked','main','0','0','','1','1',NULL),
('29','ai-sdk','main','0','0','','1','2','2c257eb1-3125-4101-a214-5ea762392c07'),
('3','loops finished','pay','1','0.1','','1','2',NULL),
('30','ai-sdk recorded','main','0','0','','1','2','1ffcd921-3088-4d00-b853-1247c7987f41'),
('31','anthropic','main','0','0','','1','2','b1b2d5d6-6ec2-40bc-a0fa-89bea588cb08'),
('32','anthropic chat','main','0','0','','1','2',NULL),
('33','smart agent','main','0','0','','1','2','643a6269-d5fc-4b60-bb97-89a3f474d365'),
('34','smart agent finished','main','0','0','','1','2',NULL),
('4','loops finished','pay','0','1.0','','1','2',NULL),
('5','loops finished','pay','1','1.1','','1','2',NULL),
('6','loops interrupted','pay','0','0.0','','1','2',NULL),
('7','loops interrupted','pay','1','0.1','','1','2',NULL),
('8','loops interrupted','pay','0','1.0','','1','2','201fcecc-f5dd-42fa-985c-4b48a51e2eab'),
('9','workflow interrupted','first','0','0','','1','2',NULL);
SELECT setval(pg_get_serial_sequence('toolwright_scopes', 'id'), (SELECT max(id) FROM toolwright_scopes));
INSERT INTO toolwright_tasks (run_id, node_id, path, iteration, attempt, status, output_key, output_json, error_json, prompt_json, position, started_at_ms, finished_at_ms) VALUES
('loops finished','pay','0.0','0','1','finished','paid','{"id":"loops finished 0","receipt":2}',NULL,NULL,'1735689547543001','1735689547687','1735689547687'),
('loops finished','pay','0.1','1','1','finished','paid','{"id":"loops finished 1","receipt":3}',NULL,NULL,'1735689547543002','1735689547719','1735689547719'),
('loops finished','pay','1.0','0','1','finished','paid','{"id":"loops finished 2","receipt":4}',NULL,NULL,'1735689547543003','1735689547780','1735689547780'),
('loops finished','pay','1.1','1','1','finished','paid','{"id":"loops finished 3","receipt":5}',NULL,NULL,'1735689547543004','1735689547850','1735689547850'),
('loops interrupted','pay','0.0','0','1','finished','paid','{"id":"loops 0","receipt":6}',NULL,NULL,'1735689550169001','1735689550377','1735689550377'),
('loops interrupted','pay','0.1','1','1','finished','paid','{"id":"loops 1","receipt":7}',NULL,NULL,'1735689550169002','1735689550602','1735689550602'),
('workflow finished','first','','0','1','finished','paid','{"id":"finished first","receipt":1}',NULL,NULL,'1735689545071001','1735689545230','1735689545230'),
('workflow finished','values','','0','1','finished','values','{"at":{"$type":"date","value":"1970-01-02T00:00:00.000Z"},"amounts":{"$type":"map","value":[["a",{"$type":"bigint","value":"1"}]]}}',NULL,NULL,'1735689545071002','1735689545247','1735689545247'),
('workflow interrupted','agent','','0','1','running',NULL,NULL,NULL,'{"prompt":"Pay for the orders.","instructions":{"$type":"undefined"}}','1735689553100002','1735689553243',NULL),
('workflow interrupted','first','','0','1','finished','paid','{"id":"interrupted first","receipt":9}',NULL,NULL,'1735689553100001','1735689553201','1735689553201'),
('workflow waiting','refund','','0','1','waiting',NULL,NULL,NULL,NULL,'1735689557061001','1735689557157',NULL);
INSERT INTO toolwright_turns (run_id, turn, kind, input_hash, began_json, result_json, started_at_ms, ended_at_ms, budget_id) VALUES
('anthropic','1','loop','GrDuNhIsiigTP9unTYSbN6Kf016YDnp8rjL0myWp114','{"count":1,"hash":"GrDuNhIsiigTP9unTYSbN6Kf016YDnp8rjL0myWp114","system":"You pay for orders."}',NULL,'1735689591530',NULL,NULL),
('anthropic chat','1','chat','GrDuNhIsiigTP9unTYSbN6Kf016YDnp8rjL0myWp114','{"count":1,"hash":"GrDuNhIsiigTP9unTYSbN6Kf016YDnp8rjL0myWp114","system":{"$type":"undefined"}}', E'{"status":"complete","reason":"Paid.","stop":"end-turn","added":[{"role":"assistant","content":[{"type":"tool_use","id":"call-1","name":"pay","caller":{"type":"direct"},"input":{"id":"chat"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call-1","content":"{\\"receipt\\":98}"}]},{"role":"assistant","content":[{"type":"text","text":"Paid.","citations":null}]}]}','1735689594546','1735689594709',NULL),
('smart agent','1','agent','4m40uGOLwHyRHdv-e_l0gFJ1l7YQEbxwDXGRFTCy3HI', E'{"count":1,"hash":"4m40uGOLwHyRHdv-e_l0gFJ1l7YQEbxwDXGRFTCy3HI","after":0,"said":[{"role":"user","content":"Pay."}],"plan":{"version":0,"todoList":[]},"context":null,"ancestors":[],"system":"For work of several steps, keep a plan with manage_todo_list.\\n\\nOld or long results of tools are archived. get_tool_response returns them by the executionId that stands in their place."}',NULL,'1735689597285',NULL,NULL),
('smart agent finished','1','agent','4m40uGOLwHyRHdv-e_l0gFJ1l7YQEbxwDXGRFTCy3HI', E'{"count":1,"hash":"4m40uGOLwHyRHdv-e_l0gFJ1l7YQEbxwDXGRFTCy3HI","after":0,"said":[{"role":"user","content":"Pay."}],"plan":{"version":0,"todoList":[]},"context":null,"ancestors":[],"system":"You are payer.\\n\\nFor work of several steps, keep a plan with manage_todo_list.\\n\\nOld or long results of tools are archived. get_tool_response returns them by the executionId that stands in their place."}', E'{"status":"finished","stop":"answer","content":"Paid.","added":[{"role":"assistant","content":"","provider":{"kind":"ai-sdk","content":[{"type":"tool-call","toolCallId":"call-1"}]},"tool_calls":[{"id":"call-1","type":"function","function":{"name":"pay","arguments":"{\\"id\\":\\"smart finished\\"}"}}]},{"role":"tool","tool_call_id":"call-1","name":"pay","content":"{\\"receipt\\":102}","format":"json","executionId":"MnqHLGbxgsXwSLBU3v9DOVjJUaNGzn8dth646z5-T0E"},{"role":"assistant","content":"Paid.","provider":{"kind":"ai-sdk","content":[{"type":"text","text":"Paid."}]}}],"end":{"count":4,"hash":"1O6jvV2S3vzl8-UhCDydWgBZzi0FNuBXCXrulAwI7dY"},"plan":{"version":0,"todoList":[]},"context":null,"usage":{"requests":2,"inputTokens":20,"outputTokens":10,"cachedInputTokens":0,"costUsd":0}}','1735689599444','1735689599659',NULL);
INSERT INTO toolwright_workflow_runs (run_id, workflow, file, shape, status, input_json, options_json, error_json, epoch, owner_id, cancel_requested, created_at_ms, updated_at_ms, finished_at_ms) VALUES
('loops finished','loops finished',NULL,'_G59qf44EzHcOWTf1_FZ49bnOxqKFMiufh21s2Az2oY','finished','{}','{}',NULL,'1',NULL,'0','1735689547520','1735689547895','1735689547895'),
('loops interrupted','loops',NULL,'_G59qf44EzHcOWTf1_FZ49bnOxqKFMiufh21s2Az2oY','running','{}','{}',NULL,'1','201fcecc-f5dd-42fa-985c-4b48a51e2eab','0','1735689550102','1735689550102',NULL),
('workflow finished','finished',NULL,'_G59qf44EzHcOWTf1_FZ49bnOxqKFMiufh21s2Az2oY','finished','{}','{}',NULL,'1',NULL,'0','1735689545044','1735689545252','1735689545252'),
('workflow interrupted','interrupted',NULL,'_G59qf44EzHcOWTf1_FZ49bnOxqKFMiufh21s2Az2oY','running','{}','{}',NULL,'1','e803b01b-c788-4922-9a3d-867dcda71b36','0','1735689553069','1735689553069',NULL),
('workflow waiting','waiting',NULL,'_G59qf44EzHcOWTf1_FZ49bnOxqKFMiufh21s2Az2oY','waiting-approval','{}','{}',NULL,'1',NULL,'0','1735689557029','1735689557160',NULL);
CREATE VIEW "output" AS  SELECT run_id,
    node_id,
    iteration,
    ((output_json)::jsonb ->> 'orders'::text) AS orders
   FROM toolwright_tasks
  WHERE ((status = 'finished'::text) AND (output_key = 'output'::text));
CREATE VIEW "paid" AS  SELECT run_id,
    node_id,
    iteration,
    ((output_json)::jsonb ->> 'id'::text) AS id,
    ((output_json)::jsonb ->> 'receipt'::text) AS receipt
   FROM toolwright_tasks
  WHERE ((status = 'finished'::text) AND (output_key = 'paid'::text));
CREATE VIEW "values" AS  SELECT run_id,
    node_id,
    iteration,
    ((output_json)::jsonb ->> 'at'::text) AS at,
    ((output_json)::jsonb ->> 'amounts'::text) AS amounts
   FROM toolwright_tasks
  WHERE ((status = 'finished'::text) AND (output_key = 'values'::text));
