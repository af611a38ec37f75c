-- Promise: I6
-- Violation: an event speaks of an attempt that this export never had.
SELECT e.job_id, e.kind || ' of attempt ' || e.attempt_id || ', which was never claimed'
FROM export_attempt_events e LEFT JOIN export_attempt_events c
  ON c.job_id = e.job_id AND c.attempt_id = e.attempt_id AND c.kind = 'Claimed'
WHERE e.kind <> 'Claimed' AND (c.id IS NULL OR c.id > e.id);
