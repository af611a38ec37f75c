-- Moves: Queued → Canceled, naming the request that did it; its cancellation_requests row is in the transaction.
-- Guard: this tenant's job, still Queued (held under the locking read; the condition is defence in depth).
-- Locks: the job's row, already held.
-- Role: exports_api
-- Returns: one row: the job's id.
UPDATE export_jobs
SET status = 'Canceled', cancellation_request_id = %(request_id)s::uuid
WHERE id = %(job_id)s::uuid AND tenant_id = %(tenant_id)s::uuid AND status = 'Queued'
RETURNING id;
