-- What the warning before a retried prompt needs to know about a call.

ALTER TABLE toolwright_calls ADD COLUMN reruns INTEGER;    -- 1: an equal call of a later attempt runs again; NULL: not known
ALTER TABLE toolwright_calls ADD COLUMN model_name TEXT;   -- the name that the model called, where it is not the tool's own
