-- Promise: I10
-- Violation: two events follow each other that no allowed transition leads between.
WITH chain AS (
    SELECT job_id, attempt_id, kind, lag(kind) OVER job AS before, lag(attempt_id) OVER job AS before_attempt
    FROM export_attempt_events
    WHERE kind <> 'DeliveryEvidence'
    WINDOW job AS (PARTITION BY job_id ORDER BY id))
SELECT job_id, kind || ' of attempt ' || attempt_id || ' follows ' || coalesce(before, 'nothing')
FROM chain
WHERE kind <> 'Claimed'
  AND NOT coalesce(
      before_attempt = attempt_id
      AND CASE
              WHEN kind IN ('Finished', 'ResolvedByRecovery') THEN before = 'DeliveryAuthorized'
              WHEN kind = 'Reconciled' THEN before IN ('Finished', 'ResolvedByRecovery')
              WHEN kind = 'Corrected' THEN before IN ('Finished', 'ResolvedByRecovery', 'Reconciled')
              ELSE before = 'Claimed'
          END, false);
