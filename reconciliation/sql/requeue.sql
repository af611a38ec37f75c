-- Moves: Running → Queued by takeover, with its RequeuedByRecovery event and a new wake-up (I2, I3, I5).
-- Guard: this attempt, lease expired, no stop request, attempts left. Attempts given back do not count, but
-- ten times the cap ends any job.
-- Locks: the job's row.
-- Role: exports_worker
-- Returns: one row: the job's id; no row when the attempt renewed, moved on, or is somebody else's case.
WITH before AS (
    SELECT id, lease_expires_at FROM export_jobs WHERE id = %(job_id)s::uuid FOR NO KEY UPDATE),
requeued AS (
    UPDATE export_jobs j
    SET status = 'Queued', attempt_id = NULL, claimed_by = NULL, lease_expires_at = NULL,
        woken_at = clock_timestamp()
    FROM before
    WHERE j.id = before.id AND j.status = 'Running' AND j.attempt_id = %(expired_attempt_id)s::uuid
      AND j.stop_request_id IS NULL
      AND before.lease_expires_at < clock_timestamp()
      AND j.attempt_count < 10 * %(max_attempts)s::int
      AND j.attempt_count - (before.lease_expires_at = 'epoch')::int - (
              SELECT count(*) FROM export_attempt_events e
              WHERE e.job_id = j.id AND e.kind = 'RequeuedByRecovery' AND e.detail = 'returned')
          < %(max_attempts)s::int
    RETURNING j.id, j.tenant_id, before.lease_expires_at AS lapsed_at),
event AS (
    INSERT INTO export_attempt_events (job_id, attempt_id, kind, observed_by, detail, recorded_at)
    SELECT id, %(expired_attempt_id)s::uuid, 'RequeuedByRecovery', %(recovery_run_id)s::text,
           CASE WHEN lapsed_at = 'epoch' THEN 'returned' END, clock_timestamp()
    FROM requeued)
INSERT INTO outbox (message_id, kind, job_id, tenant_id, created_at)
SELECT gen_random_uuid(), 'ExportReady', id, tenant_id, clock_timestamp() FROM requeued
RETURNING job_id;
