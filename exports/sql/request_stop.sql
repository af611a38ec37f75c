-- Moves: nothing; records the first stop request, which cutoff 2 then refuses to pass.
-- Guard: this tenant's job, Running, no stop request yet (under the locking read; defence in depth).
-- Locks: the job's row, already held.
-- Role: exports_api
-- Returns: one row: the job's id.
UPDATE export_jobs
SET stop_request_id = %(request_id)s::uuid
WHERE id = %(job_id)s::uuid AND tenant_id = %(tenant_id)s::uuid AND status = 'Running' AND stop_request_id IS NULL
RETURNING id;
