-- Moves: nothing; gives the lease back, so that recovery requeues the attempt as returned, not as burnt.
-- Guard: this attempt, still Running: nothing has left the process.
-- Locks: the job's row.
-- Role: exports_worker
-- Returns: one row: the attempt's id; no row when the attempt no longer owns the job.
UPDATE export_jobs
SET lease_expires_at = 'epoch'
WHERE id = %(job_id)s::uuid AND attempt_id = %(attempt_id)s::uuid AND status = 'Running'
RETURNING attempt_id;
