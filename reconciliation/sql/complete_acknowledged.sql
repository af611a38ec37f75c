-- Moves: OutcomeUnknown → Completed by the acknowledgment rule, with the attempt's one Reconciled event.
-- Guard: this tenant's job, this attempt, still OutcomeUnknown, and no evidence beside that which was judged.
-- Locks: the job's row.
-- Role: exports_acknowledger
-- Returns: one row: the attempt's id; no row when it was settled already or other evidence has come.
WITH completed AS (
    UPDATE export_jobs j
    SET status = 'Completed'
    WHERE j.tenant_id = %(tenant_id)s::uuid AND j.id = %(job_id)s::uuid AND j.attempt_id = %(attempt_id)s::uuid
      AND j.status = 'OutcomeUnknown'
      AND %(judged_evidence)s::int = (
              SELECT count(*) FROM export_attempt_events e
              WHERE e.job_id = j.id AND e.attempt_id = j.attempt_id AND e.kind = 'DeliveryEvidence')
    RETURNING j.id, j.attempt_id, j.status)
INSERT INTO export_attempt_events (job_id, attempt_id, kind, observed_by, detail, recorded_at)
SELECT id, attempt_id, 'Reconciled', %(reconciled_by)s::text,
       status || ': ' || %(evidence_ref)s::text || '; ' || %(reason)s::text, clock_timestamp()
FROM completed
RETURNING attempt_id;
