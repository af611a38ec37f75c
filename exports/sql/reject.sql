-- Moves: Queued → Rejected, with policy's reasons.
-- Guard: still Queued, in the version that was evaluated.
-- Locks: the job's row.
-- Role: exports_worker
-- Returns: one row: the job's id; no row when another writer was first.
WITH rejected AS (
    UPDATE export_jobs
    SET status = 'Rejected'
    WHERE id = %(job_id)s::uuid AND status = 'Queued' AND version = %(checked_version)s::int
    RETURNING id, version)
INSERT INTO export_rejections (job_id, version, reasons)
SELECT id, version, %(reasons)s::jsonb FROM rejected
RETURNING job_id;
