-- Turns of agents: budgets of their own, and a look-up by input whose cost does not grow with the number of turns.

ALTER TABLE toolwright_turns ADD COLUMN budget_id TEXT;   -- where it is not the run's
CREATE INDEX toolwright_turns_input ON toolwright_turns (run_id, input_hash, turn);
