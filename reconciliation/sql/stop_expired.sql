-- Moves: Running → Stopped by takeover, with its StoppedByRecovery event.
-- Guard: this attempt, lease expired, a stop request recorded.
-- Locks: the job's row.
-- Role: exports_worker
-- Returns: one row: the attempt's id; no row when the attempt renewed, moved on, or is somebody else's case.
WITH stopped AS (
    UPDATE export_jobs
    SET status = 'Stopped', lease_expires_at = NULL
    WHERE id = %(job_id)s::uuid AND status = 'Running' AND attempt_id = %(expired_attempt_id)s::uuid
      AND stop_request_id IS NOT NULL
      AND lease_expires_at < clock_timestamp()
    RETURNING id, attempt_id)
INSERT INTO export_attempt_events (job_id, attempt_id, kind, observed_by, recorded_at)
SELECT id, attempt_id, 'StoppedByRecovery', %(recovery_run_id)s::text, clock_timestamp() FROM stopped
RETURNING attempt_id;
