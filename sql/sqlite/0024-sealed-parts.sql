-- The end of a task deletes the parts of its responses. What a reader has not read by then is kept for it, encrypted with a key
-- that only its process has, until it has read it or is gone.
CREATE TABLE toolwright_sealed_parts (
  run_id      TEXT NOT NULL,
  reader_id   TEXT NOT NULL,
  last_index  INTEGER NOT NULL,
  sealed      TEXT NOT NULL,
  PRIMARY KEY (run_id, reader_id, last_index)
) WITHOUT ROWID;

ALTER TABLE toolwright_stream_readers ADD COLUMN public_key TEXT;
ALTER TABLE toolwright_stream_readers ADD COLUMN has_lost INTEGER;    -- the last part that there was too much to keep of for it
ALTER TABLE toolwright_streams ADD COLUMN deleted_index INTEGER;      -- of the last part that the end of a task has deleted
