-- Moves: Delivering → Completed, Failed or OutcomeUnknown, with its Finished event: the attempt's own end.
-- Guard: this attempt.
-- Locks: the job's row.
-- Role: exports_worker
-- Returns: one row: the attempt's id; no row when the attempt no longer owns the job.
WITH finished AS (
    UPDATE export_jobs
    SET status = %(outcome)s::text, failure_reason = %(failure_reason)s::text, lease_expires_at = NULL
    WHERE id = %(job_id)s::uuid AND attempt_id = %(attempt_id)s::uuid AND status = 'Delivering'
      AND %(outcome)s::text IN ('Completed', 'Failed', 'OutcomeUnknown')
    RETURNING id, attempt_id)
INSERT INTO export_attempt_events (job_id, attempt_id, kind, worker_id, detail, recorded_at)
SELECT id, attempt_id, 'Finished', %(worker_id)s::text, %(detail)s::text, clock_timestamp() FROM finished
RETURNING attempt_id;
