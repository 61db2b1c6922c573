-- Recordings: runs whose model responses and requests are kept, redacted, after their end.
CREATE TABLE toolwright_recordings (
  run_id TEXT NOT NULL,
  part   TEXT NOT NULL,                   -- run, tool <name>, result <path> <task>, output <path> <task>, turn <n>
  body   TEXT NOT NULL,
  PRIMARY KEY (run_id, part)
);

-- What the model was asked, as the difference to an earlier request of its scope; only in recorded runs.
ALTER TABLE toolwright_responses ADD COLUMN request_json TEXT;
