-- Moves: nothing; extends the lease of a living attempt.
-- Guard: this attempt, Running or Delivering. Expiry is deliberately not asked: only a takeover ends it (I3).
-- Locks: the job's row.
-- Role: exports_worker
-- Returns: one row: the attempt's id; no row when the attempt has lost the job.
UPDATE export_jobs
SET lease_expires_at = clock_timestamp() + make_interval(secs => %(lease_seconds)s::float8)
WHERE id = %(job_id)s::uuid AND attempt_id = %(attempt_id)s::uuid AND status IN ('Running', 'Delivering')
RETURNING attempt_id;
