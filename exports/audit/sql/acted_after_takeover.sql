-- Promise: I3
-- Violation: an attempt wrote to its export after a takeover had ended its ownership.
SELECT t.job_id, 'attempt ' || t.attempt_id || ' recorded ' || e.kind || ' after ' || t.kind
FROM export_attempt_events t JOIN export_attempt_events e
  ON e.job_id = t.job_id AND e.attempt_id = t.attempt_id AND e.id > t.id
WHERE t.kind IN ('RequeuedByRecovery', 'StoppedByRecovery', 'AttemptsExhausted', 'ResolvedByRecovery')
  AND e.kind <> 'DeliveryEvidence'
  AND NOT (t.kind = 'ResolvedByRecovery' AND e.kind IN ('Reconciled', 'Corrected'));
