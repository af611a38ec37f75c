-- Moves: Completed ↔ Failed, with the attempt's one Corrected event.
-- Guard: this tenant's job, this attempt, the recorded status looked at, not to the same; not by the person who
-- reconciled it unless that is allowed.
-- Locks: the job's row.
-- Role: exports_reconciler
-- Returns: one row: the attempt's id; no row when the record is no longer the one looked at.
WITH corrected AS (
    UPDATE export_jobs j
    SET status = %(corrected_status)s::text,
        failure_reason = CASE WHEN %(corrected_status)s::text = 'Failed' THEN %(failure_reason)s::text END
    WHERE j.tenant_id = %(tenant_id)s::uuid AND j.id = %(job_id)s::uuid AND j.attempt_id = %(attempt_id)s::uuid
      AND j.status = %(recorded_status)s::text AND j.status IN ('Completed', 'Failed')
      AND %(corrected_status)s::text IN ('Completed', 'Failed')
      AND %(corrected_status)s::text <> %(recorded_status)s::text
      AND j.delivery_authorized_at IS NOT NULL
      AND (%(allow_same_person)s::boolean OR NOT EXISTS (
              SELECT FROM export_attempt_events e
              WHERE e.job_id = j.id AND e.attempt_id = j.attempt_id AND e.kind = 'Reconciled'
                AND e.observed_by = %(corrected_by)s::text))
    RETURNING j.id, j.attempt_id, j.status)
INSERT INTO export_attempt_events (job_id, attempt_id, kind, observed_by, detail, recorded_at)
SELECT id, attempt_id, 'Corrected', %(corrected_by)s::text,
       %(recorded_status)s::text || ' to ' || status || ': ' || %(evidence_ref)s::text || '; ' || %(reason)s::text,
       clock_timestamp()
FROM corrected
RETURNING attempt_id;
