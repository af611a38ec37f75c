-- Moves: OutcomeUnknown → Completed or Failed (NotDelivered), with the attempt's one Reconciled event.
-- Guard: this tenant's job, this attempt, still OutcomeUnknown.
-- Locks: the job's row.
-- Role: exports_reconciler
-- Returns: one row: the attempt's id; no row when it was settled already or is another attempt's.
WITH reconciled AS (
    UPDATE export_jobs
    SET status = %(resolution)s::text,
        failure_reason = CASE WHEN %(resolution)s::text = 'Failed' THEN 'NotDelivered' END
    WHERE tenant_id = %(tenant_id)s::uuid AND id = %(job_id)s::uuid AND attempt_id = %(attempt_id)s::uuid
      AND status = 'OutcomeUnknown'
      AND %(resolution)s::text IN ('Completed', 'Failed')
    RETURNING id, attempt_id, status)
INSERT INTO export_attempt_events (job_id, attempt_id, kind, observed_by, detail, recorded_at)
SELECT id, attempt_id, 'Reconciled', %(reconciled_by)s::text,
       status || ': ' || %(evidence_ref)s::text || '; ' || %(reason)s::text, clock_timestamp()
FROM reconciled
RETURNING attempt_id;
