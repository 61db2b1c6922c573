-- A try that was cut off: 1 while it is still at work, 0 once it has settled, NULL where none was cut off. Until it has
-- settled, nothing may be decided about its call by another process.

ALTER TABLE toolwright_calls ADD COLUMN executing BIGINT;
