-- The input of a turn may be a long conversation. A long one has its own row, which is written once and read only when it is needed:
-- the end of a turn would write it again, and each look at the turn would read it. A short one stays in toolwright_turns, where
-- processes of older versions, which may still be at work, read and write all inputs.
CREATE TABLE toolwright_turn_inputs (
  run_id     TEXT NOT NULL,
  turn       INTEGER NOT NULL,
  began_json TEXT NOT NULL,              -- what it began with, and resumes with
  PRIMARY KEY (run_id, turn)
);
