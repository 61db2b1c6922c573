-- Reverts: runs whose effects were taken back, and what `write` and `edit` replaced.

ALTER TABLE toolwright_runs ADD COLUMN reverted_at_ms INTEGER;              -- its first revert began then: it cannot be resumed
ALTER TABLE toolwright_runs ADD COLUMN saga_json TEXT;                      -- a <Saga> that failed: what it reverts, and the error
ALTER TABLE toolwright_scopes ADD COLUMN sealed INTEGER NOT NULL DEFAULT 0; -- 1: no call begins in it any more

-- What a file was before a call replaced it, encrypted with the secret of the store.
CREATE TABLE toolwright_replaced_files (
  key     TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  body    TEXT NOT NULL,
  PRIMARY KEY (key, attempt)
) WITHOUT ROWID;
