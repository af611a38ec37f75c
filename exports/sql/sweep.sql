-- Moves: nothing; a queued export whose last wake-up is old gets a new one (I5).
-- Guard: still Queued, last woken longer ago than the bound.
-- Locks: at most the batch's rows, those held by others are left to the next sweep.
-- Role: exports_worker
-- Returns: one row per wake-up: the job's id.
WITH due AS (
    SELECT id FROM export_jobs
    WHERE status = 'Queued' AND woken_at < clock_timestamp() - make_interval(secs => %(sweep_after_seconds)s::float8)
    ORDER BY woken_at
    LIMIT %(batch)s::int
    FOR UPDATE SKIP LOCKED),
swept AS (
    UPDATE export_jobs j
    SET woken_at = clock_timestamp(), sweep_count = j.sweep_count + 1
    FROM due
    WHERE j.id = due.id AND j.status = 'Queued'
    RETURNING j.id)
INSERT INTO outbox (message_id, kind, job_id, created_at)
SELECT gen_random_uuid(), 'ExportReady', id, clock_timestamp() FROM swept
RETURNING job_id;
