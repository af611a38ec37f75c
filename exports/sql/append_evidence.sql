-- Moves: nothing; adds one piece of delivery evidence, whoever owns the job now (I6).
-- Guard: the attempt once claimed this job.
-- Locks: none beyond the foreign key's, which waits for no click and no takeover.
-- Role: exports_worker, exports_acknowledger, exports_reconciler
-- Returns: one row: the event's id; no row for an attempt this job never had.
INSERT INTO export_attempt_events (job_id, attempt_id, kind, observed_by, detail, recorded_at)
SELECT claimed.job_id, claimed.attempt_id, 'DeliveryEvidence', %(observed_by)s::text, %(detail)s::text,
       clock_timestamp()
FROM export_attempt_events claimed
WHERE claimed.job_id = %(job_id)s::uuid AND claimed.attempt_id = %(attempt_id)s::uuid AND claimed.kind = 'Claimed'
RETURNING id;
