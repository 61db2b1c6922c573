-- What models say, before and after it is committed, for readers in any process. A cache: nothing depends on it.

-- A row says that the parts of a run are read, or were.
CREATE TABLE toolwright_streams (
  run_id     TEXT PRIMARY KEY,
  next_index BIGINT NOT NULL,            -- every later part has this index or a higher one
  stop_turn  BIGINT                      -- the turn that must stop
);

-- Parts of responses that are not committed, and the results of calls, until their task ends.
CREATE TABLE toolwright_stream_parts (
  run_id      TEXT NOT NULL,
  first_index BIGINT NOT NULL,
  last_index  BIGINT NOT NULL,
  scope_id    BIGINT NOT NULL,
  response    TEXT NOT NULL,              -- '' for the result of a call
  parts_json  TEXT NOT NULL,
  PRIMARY KEY (run_id, first_index)
);
CREATE INDEX toolwright_stream_parts_by_scope ON toolwright_stream_parts (scope_id);

-- Readers in other processes, and how far they have read.
CREATE TABLE toolwright_stream_readers (
  run_id      TEXT NOT NULL,
  reader_id   TEXT NOT NULL,
  read_index  BIGINT NOT NULL,
  until_ms    BIGINT NOT NULL,
  PRIMARY KEY (run_id, reader_id)
);

-- The parts of a committed response, with their indexes; NULL if no reader asked for them.
ALTER TABLE toolwright_responses ADD COLUMN parts_json TEXT;
ALTER TABLE toolwright_responses ADD COLUMN last_index BIGINT;
