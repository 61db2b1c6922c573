-- Span contexts, as W3C traceparent texts, so that work that is resumed, retried or decided links to what came before.
-- NULL without telemetry.

ALTER TABLE toolwright_calls ADD COLUMN trace TEXT;   -- of the latest try, or of the approval request
ALTER TABLE toolwright_scopes ADD COLUMN trace TEXT;  -- of the agent that ran in it last
ALTER TABLE toolwright_runs ADD COLUMN trace TEXT;    -- of the latest activation
