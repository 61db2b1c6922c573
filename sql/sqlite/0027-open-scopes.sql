-- A run ends when none of its scopes is open. A long run has thousands of scopes, and few of them are open.
CREATE INDEX toolwright_scopes_open ON toolwright_scopes (run_id, owner_id) WHERE owner_id IS NOT NULL;
