-- Moves: nothing; adds one acknowledgment to the evidence of its attempt, the first time it is seen (I6).
-- Guard: the attempt was authorized to deliver this export; not seen under this name with this mark before.
-- Locks: an entry in uq_acknowledgments_seen: of two collectors at once the second waits, then writes nothing.
-- Role: exports_acknowledger
-- Returns: one row: the event's id; no row when it was seen before, or the attempt was never authorized.
WITH seen AS (
    INSERT INTO acknowledgments_seen (job_id, attempt_id, name, mark)
    SELECT authorized.job_id, authorized.attempt_id, %(name)s::text, %(mark)s::text
    FROM export_attempt_events authorized
    WHERE authorized.job_id = %(job_id)s::uuid AND authorized.attempt_id = %(attempt_id)s::uuid
      AND authorized.kind = 'DeliveryAuthorized'
    ON CONFLICT (attempt_id, name, mark) DO NOTHING
    RETURNING job_id, attempt_id)
INSERT INTO export_attempt_events (job_id, attempt_id, kind, observed_by, detail, recorded_at)
SELECT job_id, attempt_id, 'DeliveryEvidence', %(observed_by)s::text, %(detail)s::text, clock_timestamp()
FROM seen
RETURNING id;
