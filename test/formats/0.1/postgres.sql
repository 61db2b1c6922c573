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
('1','apr_xU0_SOqNfmI1xHCGPnbOWy38','call','workflow waiting','refund','0','12','uQ62i0zXoP0K0hojcMqb1NzBCklUX97X6br7QwPOCo4','','1','refund','Pq5N4NVGpzUCnPZuQN1yRKuoVN5yZwcvQxQeSE9nedk','{"id":"workflow"}','57KBGCrcByrAgs-zoDUfJY_YDYPUKILeKQOY2HyI8Zs','May "refund" run with these arguments?',NULL,'{"input":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]},"output":null,"redactInput":[],"redactOutput":[]}','pending','1735689590246',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'0'),
('2','apr_PLr5P7FhupqBJzKOmkuZjvvJ','call','refund pending','main','0','22','nrUWxdGcnf29Yh0DybDxZMImAuT5DwsFNI7hmxw3r7c','','1','refund','Pq5N4NVGpzUCnPZuQN1yRKuoVN5yZwcvQxQeSE9nedk','{"id":"pending"}','-HI0UixQJAodWeLYtatC-V1yjnHqZDEVeb8m16Xh9pU','May "refund" run with these arguments?',NULL,'{"input":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]},"output":null,"redactInput":[],"redactOutput":[]}','pending','1735689594549',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'0'),
('3','apr_sRI1SCytpzLHA7-QGyY7oe4N','call','refund approved','main','0','23','5Jna_LGTOiOgxDOAPyhkOlpO1d6zKfkqHtr7aDztaRQ','','1','refund','Pq5N4NVGpzUCnPZuQN1yRKuoVN5yZwcvQxQeSE9nedk','{"id":"approved"}','0cNV10HX3odTRcJZM2FBD8GhXeKlknfsTNGSybzjFaU','May "refund" run with these arguments?',NULL,'{"input":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]},"output":null,"redactInput":[],"redactOutput":[]}','approved','1735689594575',NULL,'1735689594581','ada','about approved',NULL,NULL,NULL,NULL,'0'),
('4','apr_tKy9i3se_Hwt3Q63dCAudFNq','call','refund edited','main','0','24','fySE6Yl1rT0G4RglmdvxDiVeyudTQS-X6X0NvO6okoo','','1','refund','Pq5N4NVGpzUCnPZuQN1yRKuoVN5yZwcvQxQeSE9nedk','{"id":"edited"}','q9qF5yl4gOWB7axJ9KO1M4cCKD4CC4ZRYpfwP0iGwug','May "refund" run with these arguments?',NULL,'{"input":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]},"output":null,"redactInput":[],"redactOutput":[]}','approved','1735689594632',NULL,'1735689594638','ada','about edited','{"id":"edited by a person"}','EdnyeHSTakXwsBV4UPsWITK_MQbaj1WzT47QrrmZvBA',NULL,NULL,'0'),
('5','apr_fwjocd-U51Qx78gO8uu8GcZi','call','refund denied','main','0','25','BZVbcHqdTsInNP6eEZtS4qIKv7mpTjmTBQrMFsUNN5U','','1','refund','Pq5N4NVGpzUCnPZuQN1yRKuoVN5yZwcvQxQeSE9nedk','{"id":"denied"}','xwxEgyBjWA24qw11v44gEVVge1-2bvampSgdeK9-_ng','May "refund" run with these arguments?',NULL,'{"input":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]},"output":null,"redactInput":[],"redactOutput":[]}','denied','1735689594694',NULL,'1735689594699','ada','about denied',NULL,NULL,NULL,NULL,'0'),
('6','apr_CUzZRIGF6eCI53Lb1d00wSQY','replay','notify asked','main','0','27','tzsnssus0FPCOmFpAJtY38tK4L5DQs0K8zrraOJioww','','1','notify','iZViHCoAs-sIC0U8QGuZfEnjtr6qUcDwwQtCPGI_VrQ','{"id":"asked"}','u0pKx0Xszi3KAugo0FSPErl6kHgAw3vV64LvP9dvPHk','A call of "notify" was interrupted, and nobody can tell whether it happened. Did it happen, shall it run again, or give up?',NULL,'{"input":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]},"output":{"type":"object","properties":{"receipt":{"type":"number"}},"required":["receipt"],"additionalProperties":false},"redactInput":[],"redactOutput":[]}','pending','1735689596266',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'0');
SELECT setval(pg_get_serial_sequence('toolwright_approvals', 'position'), (SELECT max(position) FROM toolwright_approvals));
INSERT INTO toolwright_cache (run_id, tool_name, cache_key, output_json, expires_at_ms) VALUES
('','look_up','oIzxA6qvVh9aLa_rqBm0lRb0eISVq3ioXFPcM_kYhEs','{"receipt":27}',NULL),
('cached','look_up_in_run','hUbCm2AwnpIdp6T9g4QwYmDw9jFNniKOYI81TFOV_eY','{"receipt":28}',NULL);
INSERT INTO toolwright_calls (scope_id, attempt, seq, key, idempotency_key, tool_name, unrepeatable, tool_call_id, status, effect, input_json, output_json, error_json, late_json, started_at_ms, finished_at_ms, tries, key_read, replayed_from, from_cache, isolation, approval_id, waits_for, note, owner_id) VALUES
('1','1','1','3lGYD2_a9ChddAJcGUgGG50WxX8MONffHSbpMya6Gwk',NULL,'pay','1',NULL,'success','happened','{"id":"finished first"}','{"receipt":1}',NULL,NULL,'1735689587595','1735689587635','1','1',NULL,'0',NULL,NULL,NULL,NULL,'b3cc0ea1-7c99-4826-90b2-765704d95d6f'),
('10','1','2','vZr0yHT7RhXCOIj_lbDZLSvFhx6X_kGuYgTokjussOU',NULL,'log_in','1','call-2','success','happened','{"user":"agent","password":"[redacted sha256:0strKdys9aExL84uOntDg3HK5cKUGosH12KUOhMoloI]"}','{"receipt":11}',NULL,NULL,'1735689589646','1735689589662','1','0',NULL,'0',NULL,NULL,NULL,NULL,'5f76f275-e5fc-46dc-ba92-186539c800b4'),
('10','1','1','S0M_gyVxev_vCeflbmNDExq1Yn0b0X1nh3-JDeGoYMI',NULL,'pay','1','call-1','success','happened','{"id":"agent a"}','{"receipt":10}',NULL,NULL,'1735689589645','1735689589656','1','1',NULL,'0',NULL,NULL,NULL,NULL,'5f76f275-e5fc-46dc-ba92-186539c800b4'),
('10','1','8','UZUavbFCnaMYoMoxAEjdtrmudcpmSAmuIjzzF9twfns',NULL,'pay','1','call-6','started',NULL,'{"id":"agent held"}',NULL,NULL,NULL,'1735689589709',NULL,'0',NULL,NULL,'0',NULL,NULL,NULL,NULL,'5f76f275-e5fc-46dc-ba92-186539c800b4'),
('10','1','3','CSqNYL1WDxFcElvQWVWvjQQ9rqyz4lLeOY3dmCag-2k',NULL,'delegate','0','call-3','success','happened','{"work":"inner"}','"Paid both."',NULL,NULL,'1735689589646','1735689589679','1',NULL,NULL,'0',NULL,NULL,NULL,NULL,'5f76f275-e5fc-46dc-ba92-186539c800b4'),
('10','1','7','JjZ7JlDHZP2u86P6VCJF-l_L70jNYtoYcLvnJJlFOyo',NULL,'pay','1','call-5','success','happened','{"id":"agent b"}','{"receipt":15}',NULL,NULL,'1735689589692','1735689589699','1','1',NULL,'0',NULL,NULL,NULL,NULL,'5f76f275-e5fc-46dc-ba92-186539c800b4'),
('10','1','6','Bfla8Pjp3YOy8DSqdconoDHq1orOPiVa7pLTsHd6uTw',NULL,'pay','1','call-4','success','happened','{"id":"agent a"}','{"receipt":14}',NULL,NULL,'1735689589692','1735689589699','1','1',NULL,'0',NULL,NULL,NULL,NULL,'5f76f275-e5fc-46dc-ba92-186539c800b4'),
('11','1','4','i1ESsOD0vE1QiOWxr3lgNC5143Hwfj9nV5h-Dlwm5No',NULL,'pay','1','call-1','success','happened','{"id":"inner a"}','{"receipt":12}',NULL,NULL,'1735689589668','1735689589672','1','1',NULL,'0',NULL,NULL,NULL,NULL,'5f76f275-e5fc-46dc-ba92-186539c800b4'),
('11','1','5','IZYuAPMjsNzsnTNX6xT4zNUW2c8UgbT91X_roaJxahY',NULL,'pay','1','call-2','success','happened','{"id":"inner b"}','{"receipt":13}',NULL,NULL,'1735689589669','1735689589674','1','1',NULL,'0',NULL,NULL,NULL,NULL,'5f76f275-e5fc-46dc-ba92-186539c800b4'),
('12','1','1','uQ62i0zXoP0K0hojcMqb1NzBCklUX97X6br7QwPOCo4',NULL,'refund','1',NULL,'pending',NULL,'{"id":"workflow"}',NULL,NULL,NULL,'1735689590246',NULL,'0',NULL,NULL,'0',NULL,'apr_xU0_SOqNfmI1xHCGPnbOWy38',NULL,NULL,NULL),
('13','1','1','DAHdH5ZbpDVoxxz-eILtXVbiM-kX7WPurXAdbCqlvG0',NULL,'pay','1',NULL,'success','happened','{"id":"bare"}','{"receipt":17}',NULL,NULL,'1735689590770','1735689590788','1','1',NULL,'0',NULL,NULL,NULL,NULL,'6f5a53bc-83c8-4cf0-99aa-924653157180'),
('13','1','2','MM5tsUOCxhYIGzlezEgw_vqgayvAQAhMY81EP0H9B30',NULL,'pay','1',NULL,'success','happened','{"id":"bare"}','{"receipt":18}',NULL,NULL,'1735689590791','1735689590795','1','1',NULL,'0',NULL,NULL,NULL,NULL,'6f5a53bc-83c8-4cf0-99aa-924653157180'),
('13','1','3','SF1i-n5916xzZCwMbdtnjvvQCrPjAXNqi1llOVYxgPU',NULL,'pay','1',NULL,'success','happened','{"id":"hook"}','{"receipt":19}',NULL,NULL,'1735689590797','1735689590804','1','1',NULL,'0',NULL,NULL,NULL,NULL,'6f5a53bc-83c8-4cf0-99aa-924653157180'),
('13','1','4','0oXaG3W6vVym-KUdC8apLEiOpBljJqf5JhHKo-Y7avo',NULL,'pay','1',NULL,'started',NULL,'{"id":"held"}',NULL,NULL,NULL,'1735689590825',NULL,'0',NULL,NULL,'0',NULL,NULL,NULL,NULL,'6f5a53bc-83c8-4cf0-99aa-924653157180'),
('14','1','1','euiCYgcKDMzGgKn1Si-GNfhtBpyP0gcXwX46vMQLHEE',NULL,'pay','1',NULL,'success','happened','{"id":"node"}','{"receipt":20}',NULL,NULL,'1735689590809','1735689590812','1','1',NULL,'0',NULL,NULL,NULL,NULL,'6f5a53bc-83c8-4cf0-99aa-924653157180'),
('15','1','1','4n-pLDYnK-TbuUStlu4cPi1IUJsuj390HGP06cGXi1g',NULL,'pay','1',NULL,'success','happened','{"id":"iteration"}','{"receipt":21}',NULL,NULL,'1735689590815','1735689590818','1','1',NULL,'0',NULL,NULL,NULL,NULL,'6f5a53bc-83c8-4cf0-99aa-924653157180'),
('16','1','1','6iYyb2SC-dsWxeM9XWQPDTRCc7z8CrfvV8Ul5zKrKCE',NULL,'pay','1',NULL,'success','happened','{"id":"path"}','{"receipt":22}',NULL,NULL,'1735689590822','1735689590824','1','1',NULL,'0',NULL,NULL,NULL,NULL,'6f5a53bc-83c8-4cf0-99aa-924653157180'),
('17','1','2','vB0RpCpkDNk7SpsMBXAuiE5SXhCYaj7xo8212_EoekY','FDwQglFlUyvmfD2-AI2YK6H-EMMQgdKD3SLjol8zzps','ship','1',NULL,'success','happened','{"order":"two"}','{"receipt":25}',NULL,NULL,'1735689591384','1735689591388','1','1',NULL,'0',NULL,NULL,NULL,NULL,'20ddf442-b627-4bbb-b2ea-9f394d9494a7'),
('17','1','3','XjtXhLqE5NYWH6gk3URoTg6CgCfHf5aCu5Pr-vKpDT4','LIzFbtuzf7Z2Husv29BoWsQ4zha1iHdgDSI7Hou5CUM','ship','1',NULL,'started',NULL,'{"order":"held"}',NULL,NULL,NULL,'1735689591390',NULL,'0',NULL,NULL,'0',NULL,NULL,NULL,NULL,'20ddf442-b627-4bbb-b2ea-9f394d9494a7'),
('17','1','1','dLBS3IuQ7KwRRL-c1famOoYgml69ozQ_Uua0F2VqJT4','OTOyJEhCJSndW4ZpUxSmx5kIGxA6rZjGy6Rzc-OwmS4','ship','1',NULL,'success','happened','{"order":"one"}','{"receipt":24}',NULL,NULL,'1735689591358','1735689591381','1','1',NULL,'0',NULL,NULL,NULL,NULL,'20ddf442-b627-4bbb-b2ea-9f394d9494a7'),
('18','1','2','oMcamsidB7Rxp5XHTh4iR4nDNO87l-Ih4R5ZXU575qo',NULL,'look_up_in_run','0',NULL,'success','happened','{"id":"one"}','{"receipt":28}',NULL,NULL,'1735689591922','1735689591928','1',NULL,NULL,'0',NULL,NULL,NULL,NULL,'01e02910-8016-40eb-8786-5dce90973ca0'),
('18','1','1','nLcqltXEs8CYcz24BXNEwQq3ev3FKQpS0Y3vagp7beg',NULL,'look_up','0',NULL,'success','happened','{"id":"one"}','{"receipt":27}',NULL,NULL,'1735689591898','1735689591914','1',NULL,NULL,'0',NULL,NULL,NULL,NULL,'01e02910-8016-40eb-8786-5dce90973ca0'),
('19','1','2','Moz_oAolt0OLk-PyGZcaqRV2vGQkjvycvk79H5Rhluw',NULL,'log_in','1',NULL,'success','happened','{"user":"ada","password":"[redacted sha256:nrp1hpcT-SPUj-i_sKss-VtAI08mxe7omsSLrS2vkFs]"}','{"receipt":30}',NULL,NULL,'1735689592482','1735689592486','1','0',NULL,'0',NULL,NULL,NULL,NULL,'58aa5ab2-3494-415c-99f2-ff0902de25e1'),
('19','1','3','a9gnd0Lwxxz3QYu4MaC3D_J-xFVw2pTho1ijtqNgs7g',NULL,'issue_token','1',NULL,'success','happened','{"user":"ada"}','{"user":"ada","token":"[redacted sha256:c5rGDPxXcrHo_ts97uDZQ3VeO4EN6Zr6ncKQe3cGaMI]"}',NULL,NULL,'1735689592487','1735689592496','1','0',NULL,'0',NULL,NULL,NULL,NULL,'58aa5ab2-3494-415c-99f2-ff0902de25e1'),
('19','1','1','U22KuB0pRJooQmG-rA3WkRQ34ZhcOShl2SUf4E5JJPE',NULL,'log_in','1',NULL,'success','happened','{"user":"ada","password":"[redacted sha256:eppGLpVx5meWOIQg389hlDOUgkdwtXQD6E6YcVyQB7g]"}','{"receipt":29}',NULL,NULL,'1735689592460','1735689592479','1','0',NULL,'0',NULL,NULL,NULL,NULL,'58aa5ab2-3494-415c-99f2-ff0902de25e1'),
('2','1','1','qEcMJ3F0MtrOvleCme8-diY-fNH8vAz7tXSRKV8RZjA',NULL,'pay','1',NULL,'success','happened','{"id":"loops finished 0"}','{"receipt":2}',NULL,NULL,'1735689588191','1735689588214','1','1',NULL,'0',NULL,NULL,NULL,NULL,'f11f3036-c050-4ed8-a2ff-cf9df750369b'),
('20','1','6','MEatX8hlsKDBme57fha0edyN3elifKzzTZHnBoUgfw8',NULL,'make_value','1',NULL,'success','happened','{"name":"bigint"}','{"$type":"bigint","value":"12345678901234567890"}',NULL,NULL,'1735689593188','1735689593197','1','0',NULL,'0',NULL,NULL,NULL,NULL,'759c115e-5335-4d02-992d-b1c047d7d739'),
('20','1','1','FvLycSgce_UyyeIuxNVa9ljNAJVb6otFXkbT1c56mRc',NULL,'make_value','1',NULL,'success','happened','{"name":"nothing"}','{"$type":"undefined"}',NULL,NULL,'1735689593135','1735689593158','1','0',NULL,'0',NULL,NULL,NULL,NULL,'759c115e-5335-4d02-992d-b1c047d7d739'),
('20','1','2','8jO9beBvTUXLJYMVvrjzijWtd1Wzgh6ojAFsGjOlvfI',NULL,'make_value','1',NULL,'success','happened','{"name":"null"}','null',NULL,NULL,'1735689593160','1735689593164','1','0',NULL,'0',NULL,NULL,NULL,NULL,'759c115e-5335-4d02-992d-b1c047d7d739'),
('20','1','3','WBCtakrl28P_lJCm3f4305z19sbHwTG4MeupLUEUXLM',NULL,'make_value','1',NULL,'success','happened','{"name":"text"}', E'"quotes \\" and \\\\ and   and 😀"',NULL,NULL,'1735689593165','1735689593172','1','0',NULL,'0',NULL,NULL,NULL,NULL,'759c115e-5335-4d02-992d-b1c047d7d739'),
('20','1','4','ERFQYpj1Pl9_DbAkRrBJK7L1awqMDaWL5KpVRjFq1Vo',NULL,'make_value','1',NULL,'success','happened','{"name":"lone surrogate"}', E'"a\\ud800b"',NULL,NULL,'1735689593173','1735689593175','1','0',NULL,'0',NULL,NULL,NULL,NULL,'759c115e-5335-4d02-992d-b1c047d7d739'),
('20','1','5','-ZQV2_FFA8IOORWbITBvRnjC1dN5x4W32u_rrLMybpM',NULL,'make_value','1',NULL,'success','happened','{"name":"numbers"}','[{"$type":"number","value":"NaN"},{"$type":"number","value":"Infinity"},{"$type":"number","value":"-Infinity"},{"$type":"number","value":"-0"},0,1e+21,0.1]',NULL,NULL,'1735689593176','1735689593184','1','0',NULL,'0',NULL,NULL,NULL,NULL,'759c115e-5335-4d02-992d-b1c047d7d739'),
('20','1','7','mCLr72eiiFDQcltYWdpYLXA5lXaJfIvzZmPNnCzx2p8',NULL,'make_value','1',NULL,'success','happened','{"name":"date"}','{"$type":"date","value":"2024-02-29T12:30:15.123Z"}',NULL,NULL,'1735689593201','1735689593209','1','0',NULL,'0',NULL,NULL,NULL,NULL,'759c115e-5335-4d02-992d-b1c047d7d739'),
('20','1','8','8PWDZ5-nadG439YyH7e4fuIccTgBVw3-RGzntIYRbfA',NULL,'make_value','1',NULL,'success','happened','{"name":"invalid date"}','{"$type":"date","value":"invalid"}',NULL,NULL,'1735689593214','1735689593218','1','0',NULL,'0',NULL,NULL,NULL,NULL,'759c115e-5335-4d02-992d-b1c047d7d739'),
('20','1','9','n1mVg3H5h2VZ2Kmb90D4yiz5XcsU7oDSZcKaBrrnTpU',NULL,'make_value','1',NULL,'success','happened','{"name":"bytes"}','{"$type":"bytes","value":"AAH+/w=="}',NULL,NULL,'1735689593220','1735689593228','1','0',NULL,'0',NULL,NULL,NULL,NULL,'759c115e-5335-4d02-992d-b1c047d7d739'),
('20','1','10','2THQhv8Q48_ubRJwN6xuNb4D3je4pX-Q1CU3J25k_HM',NULL,'make_value','1',NULL,'success','happened','{"name":"map"}','{"$type":"map","value":[["b",1],[{"key":1},{"$type":"set","value":[{"$type":"bigint","value":"1"}]}]]}',NULL,NULL,'1735689593229','1735689593232','1','0',NULL,'0',NULL,NULL,NULL,NULL,'759c115e-5335-4d02-992d-b1c047d7d739'),
('20','1','11','PjSYsG3Ccs1Qs9bYtQZBDzM86UBLS3UF5sug3Xj4Ntc',NULL,'make_value','1',NULL,'success','happened','{"name":"set"}','{"$type":"set","value":[3,"b",{"$type":"undefined"}]}',NULL,NULL,'1735689593233','1735689593237','1','0',NULL,'0',NULL,NULL,NULL,NULL,'759c115e-5335-4d02-992d-b1c047d7d739'),
('20','1','12','vTLo9zB59yQEztrZc58pRcBZiufAc6OckCOUGEUolW8',NULL,'make_value','1',NULL,'success','happened','{"name":"undefined inside"}','{"a":{"$type":"undefined"},"b":[{"$type":"undefined"},null]}',NULL,NULL,'1735689593239','1735689593242','1','0',NULL,'0',NULL,NULL,NULL,NULL,'759c115e-5335-4d02-992d-b1c047d7d739'),
('20','1','13','hXGCeiez0CSCDtNPGmoyBDjvrDYpaI3emTMj4NlC6Kw',NULL,'make_value','1',NULL,'success','happened','{"name":"a tag of ours"}','{"$type":"object","value":[["$type","date"],["value","2024-01-01"],["more",{"$type":"object","value":[["$type",{"$type":"bigint","value":"1"}]]}]]}',NULL,NULL,'1735689593244','1735689593246','1','0',NULL,'0',NULL,NULL,NULL,NULL,'759c115e-5335-4d02-992d-b1c047d7d739'),
('20','1','14','gW9a7sP_g6qb6OcsDi8JJu4XBWsbvSjh7rBp3fU_dp8',NULL,'make_value','1',NULL,'success','happened','{"name":"a __proto__ field"}','{"__proto__":{"admin":true},"a":1}',NULL,NULL,'1735689593247','1735689593250','1','0',NULL,'0',NULL,NULL,NULL,NULL,'759c115e-5335-4d02-992d-b1c047d7d739'),
('20','1','15','OsTbzucRFIwaMDoYPqEJpNL0nrnSeBWrYdAW_NuyOYk',NULL,'make_value','1',NULL,'success','happened','{"name":"instance"}','{"x":1,"y":2}',NULL,NULL,'1735689593251','1735689593253','1','0',NULL,'0',NULL,NULL,NULL,NULL,'759c115e-5335-4d02-992d-b1c047d7d739'),
('20','1','16','7C-AlQlka5_UC8UNj4NBtTkupWvHQX-H7qg3Uu1ioQE',NULL,'make_value','1',NULL,'success','happened','{"name":"url"}','"https://example.org/a?b=c"',NULL,NULL,'1735689593254','1735689593256','1','0',NULL,'0',NULL,NULL,NULL,NULL,'759c115e-5335-4d02-992d-b1c047d7d739'),
('20','1','17','I04URtm3wMZtaLbzRqp_EsI1BzmCOHPhva8-oZ_wN3o',NULL,'make_value','1',NULL,'success','happened','{"name":"error"}','{"name":"TypeError","message":"no"}',NULL,NULL,'1735689593260','1735689593262','1','0',NULL,'0',NULL,NULL,NULL,NULL,'759c115e-5335-4d02-992d-b1c047d7d739'),
('20','1','18','a3zki6BkR93wtbqVh15V-24FkYSmC4hZ3oneVCvc-CM',NULL,'make_value','1',NULL,'success','happened','{"name":"buffer"}','{"$type":"bytes","value":"YWJj"}',NULL,NULL,'1735689593263','1735689593265','1','0',NULL,'0',NULL,NULL,NULL,NULL,'759c115e-5335-4d02-992d-b1c047d7d739'),
('20','1','19','0AHYBAHr745cW2R8JevIER2uUrOEEi3fRNqsB9vhaOI',NULL,'make_value','1',NULL,'success','happened','{"name":"hole"}','[1,{"$type":"undefined"},3]',NULL,NULL,'1735689593266','1735689593267','1','0',NULL,'0',NULL,NULL,NULL,NULL,'759c115e-5335-4d02-992d-b1c047d7d739'),
('21','1','25','YKbLAEUx7Z0fVANKRVuaRQqVZ9C7r-2Ebs4Ks8-tPX0',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"undefined"}}','{"receipt":75}',NULL,NULL,'1735689594032','1735689594034','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','33','zLV6_DBjDoiPbVRBsi3EzlPWshbsmnSiUYtMYrmDfIs',NULL,'keep','1',NULL,'success','happened', E'{"value":"a\\ud800b"}','{"receipt":83}',NULL,NULL,'1735689594052','1735689594053','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','26','dWJoO0Owr0lH92Zn-r-pt52zhazKXQxWVehjZ1qR6uQ',NULL,'keep','1',NULL,'success','happened','{"value":{"x":1,"y":2}}','{"receipt":76}',NULL,NULL,'1735689594035','1735689594037','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','27','V5nQX3tgpdaepG5MKg9lHVwmmiZw5XnnkPhnct-ptl8',NULL,'keep','1',NULL,'success','happened','{"value":{"x":1,"y":2}}','{"receipt":77}',NULL,NULL,'1735689594038','1735689594040','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','28','nQZthj7IbT3ENbXCw68jXKg2gw3LooZxjrBM_H-19Kg',NULL,'keep','1',NULL,'success','happened','{"value":"https://example.org/"}','{"receipt":78}',NULL,NULL,'1735689594040','1735689594042','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','29','8pYInQw1-dbIecc5Vs9A98jPveyrfD2Jt_tp0aqtztU',NULL,'keep','1',NULL,'success','happened','{"value":"https://example.org/"}','{"receipt":79}',NULL,NULL,'1735689594043','1735689594045','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','30','0ctxH2ZcPuMnH3fUMMH49NV70EOORU8idqXx5KW6kJE',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"object","value":[["$type","date"],["value","1970-01-02"]]}}','{"receipt":80}',NULL,NULL,'1735689594046','1735689594047','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','31','G6NQq6rsDdMH3qvqTzKqMNrOxqZsZQHSLmKfiNwl2rQ',NULL,'keep','1',NULL,'success','happened','{"value":{"__proto__":{"admin":true},"a":1}}','{"receipt":81}',NULL,NULL,'1735689594048','1735689594049','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','32','XxMLfYZine_uKOXANVKi7SrsSD9hDgxMO6p2DMHdHGI',NULL,'keep','1',NULL,'success','happened','{"value":{"z":1,"a":{"$type":"undefined"},"m":[{"d":4,"c":3}]}}','{"receipt":82}',NULL,NULL,'1735689594050','1735689594051','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','34','mFSpdCyXOcSOHICr1dZnpYQWUg2rT_uY6JgbBXdfVN8',NULL,'pay','1',NULL,'started',NULL,'{"id":"arguments held"}',NULL,NULL,NULL,'1735689594054',NULL,'0',NULL,NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','5','UA95E1P-R97qkGGZ-_Twm9BaP2Wz8qKQKZNOjRsNKL4',NULL,'keep','1',NULL,'success','happened','{"value":[]}','{"receipt":55}',NULL,NULL,'1735689593916','1735689593921','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','1','XzDj3JCQ3FQv483Rsppv33QnxVgUNyU7nUxYWg900Ok',NULL,'keep','1',NULL,'success','happened','{"value":{"name":"Error","message":"a"}}','{"receipt":51}',NULL,NULL,'1735689593871','1735689593892','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','2','A62fj4xw4fGejhcW1aruNMUG-aCVcjZHUEUpie9DCjU',NULL,'keep','1',NULL,'success','happened','{"value":{"name":"Error","message":"b"}}','{"receipt":52}',NULL,NULL,'1735689593895','1735689593899','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','3','E3IsqK22tvdFd6BsjkmkBrrnS80Fbu30QSyU_b4ZKMI',NULL,'keep','1',NULL,'success','happened','{"value":{"name":"Error","message":"c"}}','{"receipt":53}',NULL,NULL,'1735689593900','1735689593908','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','4','099w4zm35yebEjFWtRYVEaFlA3zPXXqD7SrBocrWZj0',NULL,'keep','1',NULL,'success','happened','{"value":{}}','{"receipt":54}',NULL,NULL,'1735689593909','1735689593912','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','6','6ME6_vC36a1l0iNhYhMJh-xxeNgF5EZ7kaecbz0kc34',NULL,'keep','1',NULL,'success','happened','{"value":[{"$type":"undefined"}]}','{"receipt":56}',NULL,NULL,'1735689593923','1735689593930','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','7','4-k9uoYueya3lsl08lGwXudG6k1qyRMfmlrPljQMxNY',NULL,'keep','1',NULL,'success','happened','{"value":[{"$type":"undefined"},{"$type":"undefined"}]}','{"receipt":57}',NULL,NULL,'1735689593932','1735689593934','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','8','h7eH_mc7IDHp9cTuhZMd-0T7vQJglmq8gC_bRaRrmIo',NULL,'keep','1',NULL,'success','happened','{"value":[1,{"$type":"undefined"},3]}','{"receipt":58}',NULL,NULL,'1735689593941','1735689593943','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','9','pIeZhMqbArSNQWcgOAE5g78vdrzugJMovHf0ftdIEw4',NULL,'keep','1',NULL,'success','happened','{"value":[1,{"$type":"undefined"},3]}','{"receipt":59}',NULL,NULL,'1735689593944','1735689593947','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','10','GaeqitRAYwltpXAxyP6l7ELm7DLb0ADgK_N2rHqH_4U',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"bytes","value":"YWJj"}}','{"receipt":60}',NULL,NULL,'1735689593953','1735689593956','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','11','BB8DyTjCTPPHWduAIE1ygJmd0hlL0nOjmjWrCBK4CsI',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"bytes","value":"YWJj"}}','{"receipt":61}',NULL,NULL,'1735689593961','1735689593969','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','12','2WBBAQ2qtwODlKCb11r_UN7hTs_-odr4u4vjKfNVqjI',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"date","value":"1970-01-02T00:00:00.000Z"}}','{"receipt":62}',NULL,NULL,'1735689593974','1735689593977','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','13','fVuv2LEXRo2Kt5dIjpqHQNylz8Ru0AlhZ_duwS_XVFk',NULL,'keep','1',NULL,'success','happened','{"value":"1970-01-02T00:00:00.000Z"}','{"receipt":63}',NULL,NULL,'1735689593980','1735689593982','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','14','tNnARvV7nTzaLB7petw6v9Ua_XuIeLH_9FUv8mlHAdc',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"date","value":"invalid"}}','{"receipt":64}',NULL,NULL,'1735689593984','1735689593988','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','15','r5R_z4wHU-krQLVTSi1WbXKn1gfPfm_MhoGg3Qf1Vn4',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"map","value":[["b",1],["a",{"deep":[{"$type":"bigint","value":"1"}]}]]}}','{"receipt":65}',NULL,NULL,'1735689593989','1735689593993','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','16','v5vyqv8hJLHcGXMWsZBpbaUMyKF06Zqx6Rd6HLcGZYM',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"set","value":[2,1]}}','{"receipt":66}',NULL,NULL,'1735689593994','1735689594001','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','17','fnBrIhwnFH_rqYFy1imeTwjcP323lJswUu31X_Sj-dU',NULL,'keep','1',NULL,'success','happened','{"value":[2,1]}','{"receipt":67}',NULL,NULL,'1735689594002','1735689594010','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','18','GXSP_JpjqLTzKxpvVtsw4TlsqD02yROix0-tXg7T_lc',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"bigint","value":"1"}}','{"receipt":68}',NULL,NULL,'1735689594012','1735689594014','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','19','TZ3ngL5eHlcfjWbL0GWfhXTNETRQsqfL6_VzohrhUjU',NULL,'keep','1',NULL,'success','happened','{"value":1}','{"receipt":69}',NULL,NULL,'1735689594015','1735689594017','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','20','jAYd8YlH4TfLtEbNy4-5QTIhFlnAhOT1x4OY4RzqNKU',NULL,'keep','1',NULL,'success','happened','{"value":"1"}','{"receipt":70}',NULL,NULL,'1735689594018','1735689594021','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','21','hlOq5yuYIXdhhBuGBaf1W9m1KudIoMOXg56uDLfSBUs',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"number","value":"NaN"}}','{"receipt":71}',NULL,NULL,'1735689594022','1735689594024','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','22','iaYe8fJvjAejnEk-mZPnFeCZfuqw0ndM2yIrxAEdvNg',NULL,'keep','1',NULL,'success','happened','{"value":null}','{"receipt":72}',NULL,NULL,'1735689594024','1735689594026','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','23','863FFBnJzs4AC2fF-bJv-Gzr7dNF_14ikV7BSdxzmWc',NULL,'keep','1',NULL,'success','happened','{"value":0}','{"receipt":73}',NULL,NULL,'1735689594027','1735689594029','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('21','1','24','pYtE160hBPpaDinZ7jt3Z6OmlHFM8UCm5mHv45HrFvI',NULL,'keep','1',NULL,'success','happened','{"value":{"$type":"number","value":"-0"}}','{"receipt":74}',NULL,NULL,'1735689594030','1735689594031','1','0',NULL,'0',NULL,NULL,NULL,NULL,'1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('22','1','1','nrUWxdGcnf29Yh0DybDxZMImAuT5DwsFNI7hmxw3r7c',NULL,'refund','1',NULL,'pending',NULL,'{"id":"pending"}',NULL,NULL,NULL,'1735689594549',NULL,'0',NULL,NULL,'0',NULL,'apr_PLr5P7FhupqBJzKOmkuZjvvJ',NULL,NULL,NULL),
('23','1','1','5Jna_LGTOiOgxDOAPyhkOlpO1d6zKfkqHtr7aDztaRQ',NULL,'refund','1',NULL,'pending',NULL,'{"id":"approved"}',NULL,NULL,NULL,'1735689594575',NULL,'0',NULL,NULL,'0',NULL,'apr_sRI1SCytpzLHA7-QGyY7oe4N',NULL,NULL,NULL),
('24','1','1','fySE6Yl1rT0G4RglmdvxDiVeyudTQS-X6X0NvO6okoo',NULL,'refund','1',NULL,'pending',NULL,'{"id":"edited"}',NULL,NULL,NULL,'1735689594632',NULL,'0',NULL,NULL,'0',NULL,'apr_tKy9i3se_Hwt3Q63dCAudFNq',NULL,NULL,NULL),
('25','1','1','BZVbcHqdTsInNP6eEZtS4qIKv7mpTjmTBQrMFsUNN5U',NULL,'refund','1',NULL,'pending',NULL,'{"id":"denied"}',NULL,NULL,NULL,'1735689594694',NULL,'0',NULL,NULL,'0',NULL,'apr_fwjocd-U51Qx78gO8uu8GcZi',NULL,NULL,NULL),
('26','1','1','5xgYP0RYZTez1Z1PytPt3Yh1WihKM_qYWC5Bi57JTA8',NULL,'notify','1',NULL,'started',NULL,'{"id":"held"}',NULL,NULL,NULL,'1735689595243',NULL,'0',NULL,NULL,'0',NULL,NULL,NULL,NULL,'0e549256-362f-4b6f-9f3e-4c7489cacd7c'),
('27','1','1','tzsnssus0FPCOmFpAJtY38tK4L5DQs0K8zrraOJioww',NULL,'notify','1',NULL,'pending',NULL,'{"id":"asked"}',NULL,NULL,NULL,'1735689595749',NULL,'0',NULL,NULL,'0',NULL,NULL,'apr_CUzZRIGF6eCI53Lb1d00wSQY',NULL,'269c8f85-d2ad-4b7d-b443-9d037123d224'),
('28','1','2','G5FqJHkfXkqcil_ger3_E5D0crN-WxPQWm6AiZ6HD74',NULL,'pay','1','call-2','success','happened','{"id":"sdk b"}','{"receipt":88}',NULL,NULL,'1735689596800','1735689596833','1','1',NULL,'0',NULL,NULL,NULL,NULL,'24a06fa0-8688-4baf-98c0-e167807390ab'),
('28','1','1','HoHhNn2uj7JlH1C2p5mvKNdh1khSWnGbIbywUXNcrMY',NULL,'pay','1','call-1','success','happened','{"id":"sdk a"}','{"receipt":87}',NULL,NULL,'1735689596800','1735689596819','1','1',NULL,'0',NULL,NULL,NULL,NULL,'24a06fa0-8688-4baf-98c0-e167807390ab'),
('28','1','3','uT_o6NSzIZcCDAAiGma_-0EWV942umHqAn-U2EgHBrU',NULL,'pay','1','call-3','started',NULL,'{"id":"sdk held"}',NULL,NULL,NULL,'1735689596837',NULL,'0',NULL,NULL,'0',NULL,NULL,NULL,NULL,'24a06fa0-8688-4baf-98c0-e167807390ab'),
('29','1','1','LsKv0BksgV6uladZOQl_oSS17GqR-8rnJs0aNc2hrZY',NULL,'pay','1','call-1','success','happened','{"id":"recorded a"}','{"receipt":90}',NULL,NULL,'1735689597337','1735689597355','1','1',NULL,'0',NULL,NULL,NULL,NULL,'b1f99e9f-faed-452d-a3b9-0e42938e50b3'),
('29','1','3','dhvmOkSkdgaFc8bHUJzocHzN9S-pQ_FzZimzO-nGeD8',NULL,'pay','1','call-3','started',NULL,'{"id":"recorded held"}',NULL,NULL,NULL,'1735689597374',NULL,'0',NULL,NULL,'0',NULL,NULL,NULL,NULL,'b1f99e9f-faed-452d-a3b9-0e42938e50b3'),
('29','1','2','xUyjxj4ylh1G13BdRiqJIJeqAswnZyvCkhk5eEolefw',NULL,'pay','1','call-2','success','happened','{"id":"recorded b"}','{"receipt":91}',NULL,NULL,'1735689597337','1735689597368','1','1',NULL,'0',NULL,NULL,NULL,NULL,'b1f99e9f-faed-452d-a3b9-0e42938e50b3'),
('3','1','1','WeTIchZFRmua3asfJJ4cdW5hYW4071i4jIckTwcwHEA',NULL,'pay','1',NULL,'success','happened','{"id":"loops finished 1"}','{"receipt":3}',NULL,NULL,'1735689588231','1735689588235','1','1',NULL,'0',NULL,NULL,NULL,NULL,'f11f3036-c050-4ed8-a2ff-cf9df750369b'),
('30','1','2','DF_siBerFwyusnfoIPMG8QtLUXL9pULVLwfYH2IvVLI',NULL,'pay','1','call-2','success','happened','{"id":"anthropic b"}','{"receipt":94}',NULL,NULL,'1735689597979','1735689598005','1','1',NULL,'0',NULL,NULL,NULL,NULL,'2b4d1a05-1a2f-4672-9430-933ebb9ceb19'),
('30','1','1','r3u6p08cfSWTnCjiCccQ2LfrwwLnZVDMpJzeVuFc-G8',NULL,'pay','1','call-1','success','happened','{"id":"anthropic a"}','{"receipt":93}',NULL,NULL,'1735689597979','1735689597987','1','1',NULL,'0',NULL,NULL,NULL,NULL,'2b4d1a05-1a2f-4672-9430-933ebb9ceb19'),
('30','1','3','zC_g2GCYNAW2Z-N2qg4_qSlQ68vcmvWuqaHrHjplzyM',NULL,'pay','1','call-3','started',NULL,'{"id":"anthropic held"}',NULL,NULL,NULL,'1735689598021',NULL,'0',NULL,NULL,'0',NULL,NULL,NULL,NULL,'2b4d1a05-1a2f-4672-9430-933ebb9ceb19'),
('31','1','1','31Dr-_IZnbe50ACJCkbC5RWBFuMv1ytEXc0o-I4VGdw',NULL,'pay','1','call-1','success','happened','{"id":"chat"}','{"receipt":96}',NULL,NULL,'1735689598626','1735689598633','1','1',NULL,'0',NULL,NULL,NULL,NULL,'0c3b434d-2dc4-499d-afb9-cb9bb3edd09f'),
('32','1','1','jDPMnabDjZTzRdpO4zNCEIpSbggIjIyuxgMeG_vP7ZQ',NULL,'pay','1','call-1','success','happened','{"id":"smart a"}','{"receipt":97}',NULL,NULL,'1735689599318','1735689599339','1','1',NULL,'0',NULL,NULL,NULL,NULL,'93d16237-cbf4-45aa-a570-8fa6b7e5c852'),
('32','1','3','eMPkI1ESWiuUa7oqskggF83GUhO_9amyVFR2GpyX5tA',NULL,'pay','1','call-3','started',NULL,'{"id":"smart held"}',NULL,NULL,NULL,'1735689599350',NULL,'0',NULL,NULL,'0',NULL,NULL,NULL,NULL,'93d16237-cbf4-45aa-a570-8fa6b7e5c852'),
('32','1','2','61JausoQxICF1K_HplGS36uTAOzlVLG3CWEJ0jWUoeY',NULL,'pay','1','call-2','success','happened','{"id":"smart b"}','{"receipt":98}',NULL,NULL,'1735689599319','1735689599345','1','1',NULL,'0',NULL,NULL,NULL,NULL,'93d16237-cbf4-45aa-a570-8fa6b7e5c852'),
('33','1','1','MnqHLGbxgsXwSLBU3v9DOVjJUaNGzn8dth646z5-T0E',NULL,'pay','1','call-1','success','happened','{"id":"smart finished"}','{"receipt":100}',NULL,NULL,'1735689599919','1735689599937','1','1',NULL,'0',NULL,NULL,NULL,NULL,'74e8093c-bc6d-4280-923f-e57b8f6e0064'),
('4','1','1','1WcpKMTKxDAM7wmnibv_Ex_fwMCBbv1DAVHIbPlXnS0',NULL,'pay','1',NULL,'success','happened','{"id":"loops finished 2"}','{"receipt":4}',NULL,NULL,'1735689588246','1735689588252','1','1',NULL,'0',NULL,NULL,NULL,NULL,'f11f3036-c050-4ed8-a2ff-cf9df750369b'),
('5','1','1','lSmUqNa63s6rVj0GlVOLxXe3EBMUL79_wZv5ocY8Ilk',NULL,'pay','1',NULL,'success','happened','{"id":"loops finished 3"}','{"receipt":5}',NULL,NULL,'1735689588267','1735689588273','1','1',NULL,'0',NULL,NULL,NULL,NULL,'f11f3036-c050-4ed8-a2ff-cf9df750369b'),
('6','1','1','U3G0SHAxuf9-HHiZzMKo_6Mwi2WpQ_bh4ZcxcIJao9U',NULL,'pay','1',NULL,'success','happened','{"id":"loops 0"}','{"receipt":6}',NULL,NULL,'1735689588965','1735689588984','1','1',NULL,'0',NULL,NULL,NULL,NULL,'ba9aaa74-8303-487a-99d6-3d5c51fd9ef8'),
('7','1','1','6QGqUaRBiRe50Xs7OEV58bWWpM2ZbnrKd4LgEjZDoFw',NULL,'pay','1',NULL,'success','happened','{"id":"loops 1"}','{"receipt":7}',NULL,NULL,'1735689588996','1735689588999','1','1',NULL,'0',NULL,NULL,NULL,NULL,'ba9aaa74-8303-487a-99d6-3d5c51fd9ef8'),
('8','1','1','fIlHbIfM0nYx2f_QUW9RpKXJvMNHnsHI6mCmzfgXFiQ',NULL,'pay','1',NULL,'started',NULL,'{"id":"loops held"}',NULL,NULL,NULL,'1735689589008',NULL,'0',NULL,NULL,'0',NULL,NULL,NULL,NULL,'ba9aaa74-8303-487a-99d6-3d5c51fd9ef8'),
('9','1','1','0BU6RjOecGqYSIe7QXhw3tBcGx7X2WxsKsx5RcbZ2ao',NULL,'pay','1',NULL,'success','happened','{"id":"interrupted first"}','{"receipt":9}',NULL,NULL,'1735689589588','1735689589609','1','1',NULL,'0',NULL,NULL,NULL,NULL,'5f76f275-e5fc-46dc-ba92-186539c800b4');
INSERT INTO toolwright_claims (idempotency_key, tool_name, args_hash, scope_id, call_key, attempt, deleted_at_ms, happened) VALUES
('FDwQglFlUyvmfD2-AI2YK6H-EMMQgdKD3SLjol8zzps','ship','qw7W1KUW9EK3qaxXp_pgixI3NlHSz0m0YY8e98xoM4k','17','vB0RpCpkDNk7SpsMBXAuiE5SXhCYaj7xo8212_EoekY','1',NULL,NULL),
('LIzFbtuzf7Z2Husv29BoWsQ4zha1iHdgDSI7Hou5CUM','ship','JpdbE-EY4LF11GpBCt3hxmTS2IEuWWR_r1h1hy-Y-zU','17','XjtXhLqE5NYWH6gk3URoTg6CgCfHf5aCu5Pr-vKpDT4','1',NULL,NULL),
('OTOyJEhCJSndW4ZpUxSmx5kIGxA6rZjGy6Rzc-OwmS4','ship','FlQOcikJqh9cIxwNhEbGI3IAtvzhZ81chx4glYk2mnU','17','dLBS3IuQ7KwRRL-c1famOoYgml69ozQ_Uua0F2VqJT4','1',NULL,NULL);
INSERT INTO toolwright_loops (run_id, place) VALUES
('loops finished',' 2'),
('loops finished','0 1'),
('loops finished','1 1'),
('loops interrupted','0 1');
INSERT INTO toolwright_meta (name, value) VALUES
('secret','1dpb_eWlkH5pmT9bs4x9hDceelPc6ZU04AKF_dsUMsM'),
('version','6'),
('view output','["orders"]'),
('view paid','["id","receipt"]'),
('view values','["at","amounts"]');
INSERT INTO toolwright_owners (id, host, pid, process_start, lease_until_ms, ended_at_ms) VALUES
('01e02910-8016-40eb-8786-5dce90973ca0','elsewhere','1','0','1735689621889','1735689591930'),
('0c3b434d-2dc4-499d-afb9-cb9bb3edd09f','elsewhere','1','0','1735689628577','1735689598666'),
('0e549256-362f-4b6f-9f3e-4c7489cacd7c','elsewhere','1','0','1735689625236',NULL),
('1305173f-f2d6-41ac-9c5b-928b4ad2f2eb','elsewhere','1','0','1735689623858',NULL),
('20ddf442-b627-4bbb-b2ea-9f394d9494a7','elsewhere','1','0','1735689621347',NULL),
('24a06fa0-8688-4baf-98c0-e167807390ab','elsewhere','1','0','1735689626779',NULL),
('269c8f85-d2ad-4b7d-b443-9d037123d224','elsewhere','1','0','1735689625743',NULL),
('2b4d1a05-1a2f-4672-9430-933ebb9ceb19','elsewhere','1','0','1735689627935',NULL),
('2c0ed730-e6a2-408f-aec6-a282effc9d97','elsewhere','1','0','1735689626256','1735689596270'),
('55754c57-fa30-4088-b048-a098af049159','elsewhere','1','0','1735689624657','1735689594677'),
('58aa5ab2-3494-415c-99f2-ff0902de25e1','elsewhere','1','0','1735689622454','1735689592501'),
('5a80cafb-85ca-4745-be36-a1bb6878f8b9','elsewhere','1','0','1735689620216','1735689590261'),
('5f76f275-e5fc-46dc-ba92-186539c800b4','elsewhere','1','0','1735689619558',NULL),
('6f5a53bc-83c8-4cf0-99aa-924653157180','elsewhere','1','0','1735689620764',NULL),
('74e8093c-bc6d-4280-923f-e57b8f6e0064','elsewhere','1','0','1735689629897','1735689599953'),
('759c115e-5335-4d02-992d-b1c047d7d739','elsewhere','1','0','1735689623126','1735689593269'),
('8b88ccdc-c320-4a31-903a-571d4b060c6e','elsewhere','1','0','1735689624594','1735689594598'),
('937ecf48-e833-4ea0-972a-224fc848766b','elsewhere','1','0','1735689624568','1735689594579'),
('93d16237-cbf4-45aa-a570-8fa6b7e5c852','elsewhere','1','0','1735689629297',NULL),
('93e7d9ce-6ce2-46fc-9bdc-aece40f2cf87','elsewhere','1','0','1735689624708','1735689594711'),
('b1f99e9f-faed-452d-a3b9-0e42938e50b3','elsewhere','1','0','1735689627314',NULL),
('b3cc0ea1-7c99-4826-90b2-765704d95d6f','elsewhere','1','0','1735689617570','1735689587656'),
('ba9aaa74-8303-487a-99d6-3d5c51fd9ef8','elsewhere','1','0','1735689618943',NULL),
('c534b982-c71b-4d31-b6d2-72ccc76def5f','elsewhere','1','0','1735689624689','1735689594698'),
('dfaaeb79-cc32-4dc8-b670-4d9d55c2516b','elsewhere','1','0','1735689624621','1735689594636'),
('f11f3036-c050-4ed8-a2ff-cf9df750369b','elsewhere','1','0','1735689618169','1735689588289'),
('ff84ed9f-5247-4d71-90ad-6f0a44d502b3','elsewhere','1','0','1735689624539','1735689594553');
INSERT INTO toolwright_responses (scope_id, attempt, position, request_hash, response_json) VALUES
('10','1','0','EkleGcBdpal7a602WwONTh2gUXNsMldUVANmwBeCcV0', E'{"content":[{"type":"tool-call","toolCallId":"call-1","toolName":"pay","input":"{\\"id\\":\\"agent a\\"}"},{"type":"tool-call","toolCallId":"call-2","toolName":"log_in","input":"{\\"user\\":\\"agent\\",\\"password\\":\\"the agent''s secret\\"}"},{"type":"tool-call","toolCallId":"call-3","toolName":"delegate","input":"{\\"work\\":\\"inner\\"}"}],"finishReason":{"unified":"tool-calls","raw":{"$type":"undefined"}},"usage":{"inputTokens":{"total":10,"noCache":10,"cacheRead":0,"cacheWrite":0},"outputTokens":{"total":5,"text":5,"reasoning":0}},"warnings":[]}'),
('10','1','1','TD2XRCj5gVlyXowVJuMIHtBXw254xV43p4VYNNk0_NM', E'{"content":[{"type":"tool-call","toolCallId":"call-4","toolName":"pay","input":"{\\"id\\":\\"agent a\\"}"},{"type":"tool-call","toolCallId":"call-5","toolName":"pay","input":"{\\"id\\":\\"agent b\\"}"}],"finishReason":{"unified":"tool-calls","raw":{"$type":"undefined"}},"usage":{"inputTokens":{"total":10,"noCache":10,"cacheRead":0,"cacheWrite":0},"outputTokens":{"total":5,"text":5,"reasoning":0}},"warnings":[]}'),
('10','1','2','Oe1sUTBcx-vB6yQrBqdITzTDkIi7RSqpWwa1LCbSiwY', E'{"content":[{"type":"tool-call","toolCallId":"call-6","toolName":"pay","input":"{\\"id\\":\\"agent held\\"}"}],"finishReason":{"unified":"tool-calls","raw":{"$type":"undefined"}},"usage":{"inputTokens":{"total":10,"noCache":10,"cacheRead":0,"cacheWrite":0},"outputTokens":{"total":5,"text":5,"reasoning":0}},"warnings":[]}'),
('29','1','4522417551263726','oFQ57G5YF_3gi5M55BMKKfyu10p6mt6AHtzKkqV4YcY', E'{"content":[{"type":"tool-call","toolCallId":"call-1","toolName":"pay","input":"{\\"id\\":\\"recorded a\\"}"},{"type":"tool-call","toolCallId":"call-2","toolName":"pay","input":"{\\"id\\":\\"recorded b\\"}"}],"finishReason":{"unified":"tool-calls","raw":{"$type":"undefined"}},"usage":{"inputTokens":{"total":10,"noCache":10,"cacheRead":0,"cacheWrite":0},"outputTokens":{"total":5,"text":5,"reasoning":0}},"warnings":[]}'),
('29','1','4604881070829230','lhzPpN-hKWUJSdZAIhFZIGHioLhvQOR4ILeAINEM6AI', E'{"content":[{"type":"tool-call","toolCallId":"call-3","toolName":"pay","input":"{\\"id\\":\\"recorded held\\"}"}],"finishReason":{"unified":"tool-calls","raw":{"$type":"undefined"}},"usage":{"inputTokens":{"total":10,"noCache":10,"cacheRead":0,"cacheWrite":0},"outputTokens":{"total":5,"text":5,"reasoning":0}},"warnings":[]}'),
('30','1','0','IamLGM1m-WwopVBO0iNXYR8R2LgGrGCImA5Mz6D69IE','{"steered":[],"response":{"message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-test","content":[{"type":"tool_use","id":"call-1","name":"pay","caller":{"type":"direct"},"input":{"id":"anthropic a"}},{"type":"tool_use","id":"call-2","name":"pay","caller":{"type":"direct"},"input":{"id":"anthropic b"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":5}},"malformed":{}}}'),
('30','1','1','sPPMs0Tg358gAhzV5tBexyqTMCZkoMferZCL1Tg3HLE','{"steered":[],"response":{"message":{"id":"msg_2","type":"message","role":"assistant","model":"claude-test","content":[{"type":"tool_use","id":"call-3","name":"pay","caller":{"type":"direct"},"input":{"id":"anthropic held"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":5}},"malformed":{}}}'),
('32','1','0','SaM12Kj0tXtK-4Y-wTwWHyiMPxjUe5fY9Dz9LbSx9vQ', E'{"answer":{"text":"","calls":[{"id":"call-1","name":"pay","arguments":"{\\"id\\":\\"smart a\\"}"},{"id":"call-2","name":"pay","arguments":"{\\"id\\":\\"smart b\\"}"}],"finish":"done","usage":{"inputTokens":10,"outputTokens":5,"cachedInputTokens":0},"provider":{"kind":"ai-sdk","content":[{"type":"tool-call","toolCallId":"call-1"},{"type":"tool-call","toolCallId":"call-2"}]}}}'),
('32','1','1','UbfXzXf7MfbvsfQw6neNpoEOgQ99PlveZmMM1pNjOhM', E'{"answer":{"text":"","calls":[{"id":"call-3","name":"pay","arguments":"{\\"id\\":\\"smart held\\"}"}],"finish":"done","usage":{"inputTokens":10,"outputTokens":5,"cachedInputTokens":0},"provider":{"kind":"ai-sdk","content":[{"type":"tool-call","toolCallId":"call-3"}]}}}');
INSERT INTO toolwright_runs (id, status, created_at_ms, updated_at_ms) VALUES
('ai-sdk','open','1735689596781','1735689596781'),
('ai-sdk recorded','open','1735689597315','1735689597315'),
('anthropic','open','1735689597939','1735689597939'),
('anthropic chat','open','1735689598587','1735689598587'),
('arguments','open','1735689593860','1735689593860'),
('bare','open','1735689590764','1735689590764'),
('business','open','1735689591348','1735689591348'),
('cached','open','1735689591890','1735689591890'),
('loops finished','open','1735689588184','1735689588184'),
('loops interrupted','open','1735689588959','1735689588959'),
('notify asked','open','1735689595743','1735689595743'),
('notify held','open','1735689595237','1735689595237'),
('outputs','open','1735689593126','1735689593126'),
('redacted','open','1735689592454','1735689592454'),
('refund approved','open','1735689594568','1735689594568'),
('refund denied','open','1735689594689','1735689594689'),
('refund edited','open','1735689594622','1735689594622'),
('refund pending','open','1735689594539','1735689594539'),
('smart agent','open','1735689599304','1735689599304'),
('smart agent finished','open','1735689599904','1735689599904'),
('workflow finished','open','1735689587589','1735689587589'),
('workflow interrupted','open','1735689589580','1735689589580'),
('workflow waiting','open','1735689590238','1735689590238');
INSERT INTO toolwright_scopes (id, run_id, node_id, iteration, path, parent_key, attempt, epoch, owner_id) OVERRIDING SYSTEM VALUE VALUES
('1','workflow finished','first','0','0','','1','2',NULL),
('10','workflow interrupted','agent','0','0','','1','2','5f76f275-e5fc-46dc-ba92-186539c800b4'),
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
('21','arguments','main','0','0','','1','2','1305173f-f2d6-41ac-9c5b-928b4ad2f2eb'),
('22','refund pending','main','0','0','','1','1',NULL),
('23','refund approved','main','0','0','','1','1',NULL),
('24','refund edited','main','0','0','','1','1',NULL),
('25','refund denied','main','0','0','','1','1',NULL),
('26','notify held','main','0','0','','1','1',NULL),
('27','notify asked','main','0','0','','1','1',NULL),
('28','ai-sdk','main','0','0','','1','2','24a06fa0-8688-4baf-98c0-e167807390ab'),
('29','ai-sdk recorded','main','0','0','','1','2','b1f99e9f-faed-452d-a3b9-0e42938e50b3'),
('3','loops finished','pay','1','0.1','','1','2',NULL),
('30','anthropic','main','0','0','','1','2','2b4d1a05-1a2f-4672-9430-933ebb9ceb19'),
('31','anthropic chat','main','0','0','','1','2',NULL),
('32','smart agent','main','0','0','','1','2','93d16237-cbf4-45aa-a570-8fa6b7e5c852'),
('33','smart agent finished','main','0','0','','1','2',NULL),
('4','loops finished','pay','0','1.0','','1','2',NULL),
('5','loops finished','pay','1','1.1','','1','2',NULL),
('6','loops interrupted','pay','0','0.0','','1','2',NULL),
('7','loops interrupted','pay','1','0.1','','1','2',NULL),
('8','loops interrupted','pay','0','1.0','','1','2','ba9aaa74-8303-487a-99d6-3d5c51fd9ef8'),
('9','workflow interrupted','first','0','0','','1','2',NULL);
SELECT setval(pg_get_serial_sequence('toolwright_scopes', 'id'), (SELECT max(id) FROM toolwright_scopes));
INSERT INTO toolwright_tasks (run_id, node_id, path, iteration, attempt, status, output_key, output_json, error_json, prompt_json, position, started_at_ms, finished_at_ms) VALUES
('loops finished','pay','0.0','0','1','finished','paid','{"id":"loops finished 0","receipt":2}',NULL,NULL,'1735689588177001','1735689588219','1735689588219'),
('loops finished','pay','0.1','1','1','finished','paid','{"id":"loops finished 1","receipt":3}',NULL,NULL,'1735689588177002','1735689588238','1735689588238'),
('loops finished','pay','1.0','0','1','finished','paid','{"id":"loops finished 2","receipt":4}',NULL,NULL,'1735689588177003','1735689588257','1735689588257'),
('loops finished','pay','1.1','1','1','finished','paid','{"id":"loops finished 3","receipt":5}',NULL,NULL,'1735689588177004','1735689588275','1735689588275'),
('loops interrupted','pay','0.0','0','1','finished','paid','{"id":"loops 0","receipt":6}',NULL,NULL,'1735689588951001','1735689588987','1735689588987'),
('loops interrupted','pay','0.1','1','1','finished','paid','{"id":"loops 1","receipt":7}',NULL,NULL,'1735689588951002','1735689589001','1735689589001'),
('workflow finished','first','','0','1','finished','paid','{"id":"finished first","receipt":1}',NULL,NULL,'1735689587583001','1735689587647','1735689587647'),
('workflow finished','values','','0','1','finished','values','{"at":{"$type":"date","value":"1970-01-02T00:00:00.000Z"},"amounts":{"$type":"map","value":[["a",{"$type":"bigint","value":"1"}]]}}',NULL,NULL,'1735689587583002','1735689587651','1735689587651'),
('workflow interrupted','agent','','0','1','running',NULL,NULL,NULL,'{"prompt":"Pay for the orders.","instructions":{"$type":"undefined"}}','1735689589572002','1735689589628',NULL),
('workflow interrupted','first','','0','1','finished','paid','{"id":"interrupted first","receipt":9}',NULL,NULL,'1735689589572001','1735689589613','1735689589613'),
('workflow waiting','refund','','0','1','waiting',NULL,NULL,NULL,NULL,'1735689590226001','1735689590254',NULL);
INSERT INTO toolwright_turns (run_id, turn, kind, input_hash, began_json, result_json, started_at_ms, ended_at_ms, budget_id) VALUES
('anthropic','1','loop','GrDuNhIsiigTP9unTYSbN6Kf016YDnp8rjL0myWp114','{"count":1,"hash":"GrDuNhIsiigTP9unTYSbN6Kf016YDnp8rjL0myWp114","system":"You pay for orders."}',NULL,'1735689597947',NULL,NULL),
('anthropic chat','1','chat','GrDuNhIsiigTP9unTYSbN6Kf016YDnp8rjL0myWp114','{"count":1,"hash":"GrDuNhIsiigTP9unTYSbN6Kf016YDnp8rjL0myWp114","system":{"$type":"undefined"}}', E'{"status":"complete","reason":"Paid.","stop":"end-turn","added":[{"role":"assistant","content":[{"type":"tool_use","id":"call-1","name":"pay","caller":{"type":"direct"},"input":{"id":"chat"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call-1","content":"{\\"receipt\\":96}"}]},{"role":"assistant","content":[{"type":"text","text":"Paid.","citations":null}]}]}','1735689598595','1735689598653',NULL),
('smart agent','1','agent','4m40uGOLwHyRHdv-e_l0gFJ1l7YQEbxwDXGRFTCy3HI', E'{"count":1,"hash":"4m40uGOLwHyRHdv-e_l0gFJ1l7YQEbxwDXGRFTCy3HI","after":0,"said":[{"role":"user","content":"Pay."}],"plan":{"version":0,"todoList":[]},"context":null,"ancestors":[],"system":"For work of several steps, keep a plan with manage_todo_list.\\n\\nOld or long results of tools are archived. get_tool_response returns them by the executionId that stands in their place."}',NULL,'1735689599311',NULL,NULL),
('smart agent finished','1','agent','4m40uGOLwHyRHdv-e_l0gFJ1l7YQEbxwDXGRFTCy3HI', E'{"count":1,"hash":"4m40uGOLwHyRHdv-e_l0gFJ1l7YQEbxwDXGRFTCy3HI","after":0,"said":[{"role":"user","content":"Pay."}],"plan":{"version":0,"todoList":[]},"context":null,"ancestors":[],"system":"You are payer.\\n\\nFor work of several steps, keep a plan with manage_todo_list.\\n\\nOld or long results of tools are archived. get_tool_response returns them by the executionId that stands in their place."}', E'{"status":"finished","stop":"answer","content":"Paid.","added":[{"role":"assistant","content":"","provider":{"kind":"ai-sdk","content":[{"type":"tool-call","toolCallId":"call-1"}]},"tool_calls":[{"id":"call-1","type":"function","function":{"name":"pay","arguments":"{\\"id\\":\\"smart finished\\"}"}}]},{"role":"tool","tool_call_id":"call-1","name":"pay","content":"{\\"receipt\\":100}","format":"json","executionId":"MnqHLGbxgsXwSLBU3v9DOVjJUaNGzn8dth646z5-T0E"},{"role":"assistant","content":"Paid.","provider":{"kind":"ai-sdk","content":[{"type":"text","text":"Paid."}]}}],"end":{"count":4,"hash":"trH_KpSa4vfTqR5TgNBy2xyblz8XjjXsK1oxbdcsh1k"},"plan":{"version":0,"todoList":[]},"context":null,"usage":{"requests":2,"inputTokens":20,"outputTokens":10,"cachedInputTokens":0,"costUsd":0}}','1735689599913','1735689599943',NULL);
INSERT INTO toolwright_workflow_runs (run_id, workflow, file, shape, status, input_json, options_json, error_json, epoch, owner_id, cancel_requested, created_at_ms, updated_at_ms, finished_at_ms) VALUES
('loops finished','loops finished',NULL,'_G59qf44EzHcOWTf1_FZ49bnOxqKFMiufh21s2Az2oY','finished','{}','{}',NULL,'1',NULL,'0','1735689588172','1735689588284','1735689588284'),
('loops interrupted','loops',NULL,'_G59qf44EzHcOWTf1_FZ49bnOxqKFMiufh21s2Az2oY','running','{}','{}',NULL,'1','ba9aaa74-8303-487a-99d6-3d5c51fd9ef8','0','1735689588946','1735689588946',NULL),
('workflow finished','finished',NULL,'_G59qf44EzHcOWTf1_FZ49bnOxqKFMiufh21s2Az2oY','finished','{}','{}',NULL,'1',NULL,'0','1735689587573','1735689587654','1735689587654'),
('workflow interrupted','interrupted',NULL,'_G59qf44EzHcOWTf1_FZ49bnOxqKFMiufh21s2Az2oY','running','{}','{}',NULL,'1','5f76f275-e5fc-46dc-ba92-186539c800b4','0','1735689589565','1735689589565',NULL),
('workflow waiting','waiting',NULL,'_G59qf44EzHcOWTf1_FZ49bnOxqKFMiufh21s2Az2oY','waiting-approval','{}','{}',NULL,'1',NULL,'0','1735689590219','1735689590258',NULL);
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
