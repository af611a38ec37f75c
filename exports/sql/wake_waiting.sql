-- Moves: nothing; queued exports of one destination get a wake-up because a hold ended or a slot is free (I5).
-- Guard: still Queued, last woken before the moment given, under no open hold of their own or wider than it.
-- Locks: at most the batch's rows FOR NO KEY UPDATE: evidence neither waits nor keeps a row from being woken;
-- those held by others are left to the next round.
-- Role: exports_worker
-- Returns: one row per wake-up: the job's id.
WITH due AS (
    SELECT j.id FROM export_jobs j
    WHERE j.status = 'Queued' AND j.destination_id = %(destination_id)s::uuid
      AND j.woken_at < %(woken_before)s::timestamptz
      AND (%(job_id)s::uuid IS NULL OR j.id = %(job_id)s::uuid)
      AND NOT EXISTS (
          SELECT FROM holds h
          WHERE h.ended_at IS NULL AND (h.until IS NULL OR h.until > clock_timestamp())
            AND (h.destination_id = j.destination_id AND h.cause NOT IN ('Cap', 'Rate')
                 OR h.destination_id IS NULL AND h.tenant_id = j.tenant_id AND h.job_id IS NULL
                 OR h.job_id = j.id AND h.version = j.version
                 OR num_nonnulls(h.destination_id, h.tenant_id, h.job_id) = 0))
    ORDER BY j.woken_at
    LIMIT %(batch)s::int
    FOR NO KEY UPDATE SKIP LOCKED),
woken AS (
    UPDATE export_jobs j
    SET woken_at = clock_timestamp()
    FROM due
    WHERE j.id = due.id AND j.status = 'Queued'
    RETURNING j.id, j.tenant_id)
INSERT INTO outbox (message_id, kind, job_id, tenant_id, created_at)
SELECT gen_random_uuid(), 'ExportReady', id, tenant_id, clock_timestamp() FROM woken
RETURNING job_id;
