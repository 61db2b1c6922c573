-- The order in which the responses of a scope were committed, where their positions do not tell: a response that is found by
-- its request has a position that is made of it. NULL for all others.
ALTER TABLE toolwright_responses ADD COLUMN ordinal BIGINT;
