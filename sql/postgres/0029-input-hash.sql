-- The input of an enqueued agent or program is deleted when its run has finished. Its keyed hash stays: the same run id with another
-- input is another run, and must be refused.
ALTER TABLE toolwright_runs ADD COLUMN input_hash TEXT;
