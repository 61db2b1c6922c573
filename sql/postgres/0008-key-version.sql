-- How the keys of a scope's calls are derived. Scopes that version 0.1 made keep its derivation: their calls are found.

ALTER TABLE toolwright_scopes ADD COLUMN key_version INTEGER NOT NULL DEFAULT 1;
