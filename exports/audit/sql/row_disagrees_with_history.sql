-- Promise: I2
-- Violation: the row's status is not the one its last event proves.
WITH last AS (
    SELECT DISTINCT ON (job_id) job_id, kind, detail
    FROM export_attempt_events
    WHERE kind <> 'DeliveryEvidence'
    ORDER BY job_id, id DESC)
SELECT j.id, 'is ' || j.status || ', its last event is ' || coalesce(last.kind, 'none')
             || coalesce(' (' || left(last.detail, 80) || ')', '')
FROM export_jobs j LEFT JOIN last ON last.job_id = j.id
WHERE NOT CASE coalesce(last.kind, 'RequeuedByRecovery')
              WHEN 'RequeuedByRecovery' THEN j.status IN ('Queued', 'Canceled', 'Rejected')
              WHEN 'Claimed' THEN j.status = 'Running'
              WHEN 'DeliveryAuthorized' THEN j.status = 'Delivering'
              WHEN 'Stopped' THEN j.status = 'Stopped'
              WHEN 'StoppedByRecovery' THEN j.status = 'Stopped'
              WHEN 'Failed' THEN j.status = 'Failed'
              WHEN 'AttemptsExhausted' THEN j.status = 'Failed'
              WHEN 'Finished' THEN j.status IN ('Completed', 'Failed', 'OutcomeUnknown')
              WHEN 'Corrected' THEN coalesce(starts_with(last.detail, CASE j.status
                                          WHEN 'Completed' THEN 'Failed to Completed: '
                                          WHEN 'Failed' THEN 'Completed to Failed: ' END), false)
              ELSE coalesce(starts_with(last.detail, j.status || ': '), false)
          END;
