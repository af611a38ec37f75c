-- Moves: Running → Failed with its code, with its Failed event; nothing has left the process.
-- Guard: this attempt.
-- Locks: the job's row.
-- Role: exports_worker
-- Returns: one row: the attempt's id; no row when the attempt no longer owns the job.
WITH failed AS (
    UPDATE export_jobs
    SET status = 'Failed', failure_reason = %(failure_reason)s::text, lease_expires_at = NULL
    WHERE id = %(job_id)s::uuid AND attempt_id = %(attempt_id)s::uuid AND status = 'Running'
      AND %(failure_reason)s::text IN ('BuildFailed', 'FinalNameOccupied', 'OriginalDelivered')
    RETURNING id, attempt_id)
INSERT INTO export_attempt_events (job_id, attempt_id, kind, worker_id, detail, recorded_at)
SELECT id, attempt_id, 'Failed', %(worker_id)s::text, %(detail)s::text, clock_timestamp() FROM failed
RETURNING attempt_id;
