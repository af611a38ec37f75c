-- Moves: Running → Stopped, with its Stopped event.
-- Guard: this attempt, and a recorded stop request.
-- Locks: the job's row.
-- Role: exports_worker
-- Returns: one row: the attempt's id; no row when the attempt no longer owns the job or nobody asked to stop.
WITH stopped AS (
    UPDATE export_jobs
    SET status = 'Stopped', lease_expires_at = NULL
    WHERE id = %(job_id)s::uuid AND attempt_id = %(attempt_id)s::uuid AND status = 'Running'
      AND stop_request_id IS NOT NULL
    RETURNING id, attempt_id)
INSERT INTO export_attempt_events (job_id, attempt_id, kind, worker_id, detail, recorded_at)
SELECT id, attempt_id, 'Stopped', %(worker_id)s::text, %(stop_point)s::text, clock_timestamp() FROM stopped
RETURNING attempt_id;
