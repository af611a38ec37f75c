-- Moves: Running → Failed (AttemptsExhausted) by takeover, with its event.
-- Guard: this attempt, lease expired, no stop request, no attempts left (those given back do not count, up to
-- ten times the cap).
-- Locks: the job's row.
-- Role: exports_worker
-- Returns: one row: the attempt's id; no row when the attempt renewed, moved on, or is somebody else's case.
WITH before AS (
    SELECT id, lease_expires_at FROM export_jobs WHERE id = %(job_id)s::uuid FOR NO KEY UPDATE),
exhausted AS (
    UPDATE export_jobs j
    SET status = 'Failed', failure_reason = 'AttemptsExhausted', lease_expires_at = NULL
    FROM before
    WHERE j.id = before.id AND j.status = 'Running' AND j.attempt_id = %(expired_attempt_id)s::uuid
      AND j.stop_request_id IS NULL
      AND before.lease_expires_at < clock_timestamp()
      AND (j.attempt_count >= 10 * %(max_attempts)s::int
           OR j.attempt_count - (before.lease_expires_at = 'epoch')::int - (
                  SELECT count(*) FROM export_attempt_events e
                  WHERE e.job_id = j.id AND e.kind = 'RequeuedByRecovery' AND e.detail = 'returned')
              >= %(max_attempts)s::int)
    RETURNING j.id, j.attempt_id)
INSERT INTO export_attempt_events (job_id, attempt_id, kind, observed_by, recorded_at)
SELECT id, attempt_id, 'AttemptsExhausted', %(recovery_run_id)s::text, clock_timestamp() FROM exhausted
RETURNING attempt_id;
