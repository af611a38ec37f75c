-- Moves: nothing; the locking read under which a cancellation is decided.
-- Guard: this tenant's job.
-- Locks: the job's row FOR NO KEY UPDATE: blocks every writer of the row, but not the insert of evidence.
-- Role: exports_api
-- Returns: the row, every column of the model; no row for a missing or another tenant's job.
SELECT id, tenant_id, status, version, destination_id, attempt_id, attempt_count, claimed_by, lease_expires_at,
       stop_request_id, cancellation_request_id, expected_file_name, expected_file_bytes, expected_file_sha256,
       delivery_authorized_at, woken_at, failure_reason, delivery_key, replaces_job_id, created_by,
       replacement_reason, overwrite_agreement_ref, sweep_count, created_at
FROM export_jobs
WHERE id = %(job_id)s::uuid AND tenant_id = %(tenant_id)s::uuid
FOR NO KEY UPDATE;
