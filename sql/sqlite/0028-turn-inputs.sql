-- The input of a turn may be a long conversation. In its own row, it is written once, and read only when it is needed: the end of
-- a turn would write it again, and each look at the turn would read it.
CREATE TABLE toolwright_turn_inputs (
  run_id     TEXT NOT NULL,
  turn       INTEGER NOT NULL,
  began_json TEXT NOT NULL,              -- what it began with, and resumes with
  PRIMARY KEY (run_id, turn)
);

INSERT INTO toolwright_turn_inputs (run_id, turn, began_json) SELECT run_id, turn, began_json FROM toolwright_turns;
ALTER TABLE toolwright_turns DROP COLUMN began_json;
