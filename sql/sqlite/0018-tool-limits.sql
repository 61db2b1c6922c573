-- Limits of tools across processes: `concurrency` and `rate`. A name stands for the option, the tool and a digest of the key.

-- One row per limit in use: whoever checks it locks the row.
CREATE TABLE toolwright_tool_limits (
  name TEXT PRIMARY KEY
) WITHOUT ROWID;

-- Processes that wait for a place, in order. Places that calls hold are in toolwright_reservations, with an empty run_id.
CREATE TABLE toolwright_limit_queue (
  name          TEXT NOT NULL,
  owner_id      TEXT NOT NULL,
  position      INTEGER NOT NULL,
  seen_until_ms INTEGER NOT NULL,         -- a process that waits renews this; later the next one has its turn
  PRIMARY KEY (name, owner_id)
) WITHOUT ROWID;

-- When calls under a rate began, by this database's clock.
CREATE TABLE toolwright_rate_starts (
  name          TEXT NOT NULL,
  at_ms         INTEGER NOT NULL,
  call_key      TEXT NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  PRIMARY KEY (name, at_ms, call_key)
) WITHOUT ROWID;
