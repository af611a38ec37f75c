-- Moves: nothing; a queued export whose last wake-up is old gets a new one (I5).
-- Guard: still Queued, last woken longer ago than the bound, and under no open hold: whatever ends one wakes. The
-- clock is read once for the batch: so the index is read only as far as the bound, and not over all that is queued.
-- Locks: at most the batch's rows FOR NO KEY UPDATE: evidence neither waits nor keeps a row from being swept;
-- those held by others are left to the next sweep.
-- Role: exports_worker
-- Returns: one row per wake-up: the job's id.
WITH due AS (
    SELECT j.id FROM export_jobs j
    WHERE j.status = 'Queued'
      AND j.woken_at < (SELECT clock_timestamp() - make_interval(secs => %(sweep_after_seconds)s::float8))
      AND NOT EXISTS (
          SELECT FROM holds h
          WHERE h.ended_at IS NULL AND (h.until IS NULL OR h.until > clock_timestamp())
            AND (h.destination_id = j.destination_id
                 OR h.destination_id IS NULL AND h.tenant_id = j.tenant_id AND h.job_id IS NULL
                 OR h.job_id = j.id AND h.version = j.version
                 OR num_nonnulls(h.destination_id, h.tenant_id, h.job_id) = 0))
    ORDER BY j.woken_at
    LIMIT %(batch)s::int
    FOR NO KEY UPDATE SKIP LOCKED),
swept AS (
    UPDATE export_jobs j
    SET woken_at = clock_timestamp(), sweep_count = j.sweep_count + 1
    FROM due
    WHERE j.id = due.id AND j.status = 'Queued'
    RETURNING j.id, j.tenant_id)
INSERT INTO outbox (message_id, kind, job_id, tenant_id, created_at)
SELECT gen_random_uuid(), 'ExportReady', id, tenant_id, clock_timestamp() FROM swept
RETURNING job_id;
