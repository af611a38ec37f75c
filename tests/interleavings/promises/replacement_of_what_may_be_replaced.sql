-- Promise: I8
-- Broken: a replacement was created of an original that could not be replaced then, or of another than asked.
SELECT r.id, 'created ' || r.created_at || ' after ' || coalesce(last.kind || ' ' || coalesce(last.leads_to, ''), 'nothing')
FROM export_jobs r
JOIN told t ON t.statement = 'create_replacement' AND t.applied AND t.new_id = r.id
LEFT JOIN interleavings.before b ON b.id = r.replaces_job_id
LEFT JOIN export_jobs o ON o.id = r.replaces_job_id
LEFT JOIN LATERAL (
    SELECT c.kind, c.leads_to FROM chain c
    WHERE c.job_id = r.replaces_job_id AND c.recorded_at < r.created_at ORDER BY c.id DESC LIMIT 1) last ON true
WHERE r.replaces_job_id IS DISTINCT FROM t.job_id OR r.destination_id <> o.destination_id
   OR o.replaces_job_id IS NOT NULL
   OR NOT coalesce(last.leads_to = 'OutcomeUnknown'
                   OR (last.leads_to = 'Failed' OR last.kind IN ('Failed', 'AttemptsExhausted'))
                      AND coalesce(b.failure_reason, o.failure_reason) NOT IN ('FinalNameOccupied', 'OriginalDelivered'),
                   false)
