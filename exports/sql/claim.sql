-- Moves: Queued → Running: cutoff 1, with its Claimed event and a lease (I1, I2).
-- Guard: still Queued, in the version whose terms policy evaluated.
-- Locks: the job's row.
-- Role: exports_worker
-- Returns: one row: the attempt's id; no row when another writer was first.
WITH claimed AS (
    UPDATE export_jobs
    SET status = 'Running', attempt_id = %(attempt_id)s::uuid, attempt_count = attempt_count + 1,
        claimed_by = %(worker_id)s::text,
        lease_expires_at = clock_timestamp() + make_interval(secs => %(lease_seconds)s::float8)
    WHERE id = %(job_id)s::uuid AND status = 'Queued' AND version = %(checked_version)s::int
    RETURNING id, attempt_id, version, claimed_by)
INSERT INTO export_attempt_events (job_id, attempt_id, kind, version, worker_id, detail, recorded_at)
SELECT id, attempt_id, 'Claimed', version, claimed_by, %(contract_id)s::text, clock_timestamp() FROM claimed
RETURNING attempt_id;
