-- Retention: what finds the runs that are old, and what stays of them when they are deleted.

-- Of a business key stays that it was used, and whether its effect has happened: it is never free again by forgetting.
ALTER TABLE toolwright_claims ADD COLUMN deleted_at_ms INTEGER;
ALTER TABLE toolwright_claims ADD COLUMN happened INTEGER;
CREATE INDEX toolwright_claims_scope ON toolwright_claims (scope_id);

-- Whether the arguments hold what the log does not show, such as the content of a file.
ALTER TABLE toolwright_approvals ADD COLUMN clear_args INTEGER NOT NULL DEFAULT 0;
CREATE INDEX toolwright_approvals_run ON toolwright_approvals (run_id, position);

-- Of a run stays its row in here, with the status 'deleted'.
CREATE INDEX toolwright_runs_created ON toolwright_runs (status, created_at_ms);
CREATE INDEX toolwright_workflow_runs_updated ON toolwright_workflow_runs (status, updated_at_ms);
CREATE INDEX toolwright_cache_expiry ON toolwright_cache (expires_at_ms) WHERE expires_at_ms IS NOT NULL;
