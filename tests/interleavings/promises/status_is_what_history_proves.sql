-- Promise: I2
-- Broken: an export's status is not what its last event, its click or its rejection proves.
SELECT j.id, j.status || ' after ' || coalesce(last.kind || ' ' || coalesce(last.detail, ''), 'no event')
FROM export_jobs j
LEFT JOIN LATERAL (
    SELECT e.kind, e.detail, e.attempt_id, e.leads_to FROM chain e WHERE e.job_id = j.id ORDER BY e.id DESC LIMIT 1
) last ON true
WHERE NOT CASE j.status
    WHEN 'Queued' THEN last.kind IS NULL OR last.kind = 'RequeuedByRecovery'
    WHEN 'Canceled' THEN (last.kind IS NULL OR last.kind = 'RequeuedByRecovery') AND EXISTS (
        SELECT FROM cancellation_requests c
        WHERE c.id = j.cancellation_request_id AND c.job_id = j.id AND c.outcome = 'CanceledWhileQueued')
    WHEN 'Rejected' THEN (last.kind IS NULL OR last.kind = 'RequeuedByRecovery') AND EXISTS (
        SELECT FROM export_rejections r WHERE r.job_id = j.id AND r.version = j.version)
    WHEN 'Running' THEN last.kind = 'Claimed' AND last.attempt_id = j.attempt_id
    WHEN 'Delivering' THEN last.kind = 'DeliveryAuthorized' AND last.attempt_id = j.attempt_id
    WHEN 'Stopped' THEN last.kind IN ('Stopped', 'StoppedByRecovery') AND last.attempt_id = j.attempt_id
    WHEN 'OutcomeUnknown' THEN last.kind IN ('Finished', 'ResolvedByRecovery') AND last.leads_to = j.status
                               AND last.attempt_id = j.attempt_id
    ELSE (last.kind IN ('Failed', 'AttemptsExhausted') AND j.status = 'Failed' OR last.leads_to = j.status)
         AND last.attempt_id = j.attempt_id
END
