-- Promise: I6
-- Broken: an acknowledgment completed an export although evidence nobody had judged was committed before it began.
SELECT t.job_id, t.judged || ' judged, ' || kept.count + new.count || ' on record'
FROM told t
CROSS JOIN LATERAL (
    SELECT count(*) FROM moments m, interleavings.mark
    WHERE m.job_id = t.job_id AND m.attempt_id = t.attempt_id AND m.kind = 'DeliveryEvidence'
      AND m.id <= mark.last_event) kept
CROSS JOIN LATERAL (
    SELECT count(*) FROM told e
    WHERE e.statement IN ('append_evidence', 'collect_acknowledgment') AND e.applied AND e.attempt_id = t.attempt_id
      AND e.n <= t.started_after) new
WHERE t.statement = 'complete_acknowledged' AND t.applied AND t.judged <> kept.count + new.count
