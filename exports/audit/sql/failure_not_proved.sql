-- Promise: I6
-- Violation: the failure code claims more than the last event proves.
WITH last AS (
    SELECT DISTINCT ON (e.job_id) e.job_id, e.kind
    FROM export_attempt_events e JOIN export_jobs j ON j.id = e.job_id AND j.status = 'Failed'
    WHERE e.kind <> 'DeliveryEvidence'
    ORDER BY e.job_id, e.id DESC)
SELECT j.id, 'failed as ' || j.failure_reason || ' by ' || coalesce(last.kind, 'no event')
FROM export_jobs j LEFT JOIN last ON last.job_id = j.id
WHERE j.status = 'Failed'
  AND NOT CASE j.failure_reason
              WHEN 'BuildFailed' THEN last.kind = 'Failed' AND j.delivery_authorized_at IS NULL
              WHEN 'AttemptsExhausted' THEN last.kind = 'AttemptsExhausted' AND j.delivery_authorized_at IS NULL
              WHEN 'FinalNameOccupied' THEN last.kind IN ('Failed', 'Finished')
              WHEN 'NotDelivered' THEN last.kind IN ('Finished', 'Reconciled', 'Corrected')
                                       AND j.delivery_authorized_at IS NOT NULL
              ELSE last.kind IN ('Failed', 'Finished', 'Corrected') AND j.replaces_job_id IS NOT NULL
          END IS TRUE;
