-- Promise: I6
-- Broken: a failure code claims more than the last event proves.
SELECT j.id, j.failure_reason || ' by ' || coalesce(last.kind, 'no event')
FROM export_jobs j
LEFT JOIN LATERAL (
    SELECT e.kind FROM chain e WHERE e.job_id = j.id ORDER BY e.id DESC LIMIT 1) last ON true
WHERE j.status = 'Failed' AND NOT CASE j.failure_reason
    WHEN 'BuildFailed' THEN last.kind = 'Failed'
    WHEN 'AttemptsExhausted' THEN last.kind = 'AttemptsExhausted'
    WHEN 'NotDelivered' THEN last.kind IN ('Finished', 'Reconciled', 'Corrected')
    WHEN 'FinalNameOccupied' THEN last.kind IN ('Failed', 'Finished')
    ELSE last.kind IN ('Failed', 'Finished', 'Corrected') AND j.replaces_job_id IS NOT NULL
END
