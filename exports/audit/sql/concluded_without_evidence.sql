-- Promise: I6
-- Violation: a delivery was concluded without any evidence of the attempt on record.
SELECT j.id, 'attempt ' || e.attempt_id || ' ended as ' || e.kind || ' (' || left(e.detail, 80) || ') without evidence'
FROM export_jobs j JOIN export_attempt_events e ON e.job_id = j.id AND e.attempt_id = j.attempt_id
WHERE e.kind IN ('Finished', 'ResolvedByRecovery')
  AND NOT starts_with(e.detail, 'OutcomeUnknown')
  AND NOT EXISTS (
      SELECT FROM export_attempt_events s
      WHERE s.job_id = e.job_id AND s.attempt_id = e.attempt_id AND s.kind = 'DeliveryEvidence');
