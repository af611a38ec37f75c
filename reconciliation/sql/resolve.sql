-- Moves: Delivering → Completed or OutcomeUnknown by takeover, from evidence, with its ResolvedByRecovery event.
-- Guard: this attempt, lease still expired: a renewal during the look at the partner prevents it.
-- Locks: the job's row.
-- Role: exports_worker
-- Returns: one row: the attempt's id; no row when the attempt renewed or moved on.
WITH resolved AS (
    UPDATE export_jobs
    SET status = %(resolution)s::text, lease_expires_at = NULL
    WHERE id = %(job_id)s::uuid AND status = 'Delivering' AND attempt_id = %(expired_attempt_id)s::uuid
      AND lease_expires_at < clock_timestamp()
      AND %(resolution)s::text IN ('Completed', 'OutcomeUnknown')
    RETURNING id, attempt_id, status)
INSERT INTO export_attempt_events (job_id, attempt_id, kind, observed_by, detail, recorded_at)
SELECT id, attempt_id, 'ResolvedByRecovery', %(recovery_run_id)s::text,
       status || ': ' || %(evidence_summary)s::text, clock_timestamp()
FROM resolved
RETURNING attempt_id;
