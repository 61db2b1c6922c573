-- Whether a runtime with telemetry has reported how long a decided request waited. Decisions are made by any process, most
-- of them without telemetry, such as the command line.
ALTER TABLE toolwright_approvals ADD COLUMN is_measured INTEGER;
CREATE INDEX toolwright_approvals_unmeasured ON toolwright_approvals (decided_at_ms)
  WHERE decided_at_ms IS NOT NULL AND is_measured IS NULL;
