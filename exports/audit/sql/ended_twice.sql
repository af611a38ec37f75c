-- Promise: I1
-- Violation: one attempt has two ends, so a writer did not check the state it relied on.
SELECT job_id, 'attempt ' || attempt_id || ' ended as ' || string_agg(kind, ' and ' ORDER BY id)
FROM export_attempt_events
WHERE kind IN ('Stopped', 'Failed', 'Finished', 'RequeuedByRecovery', 'StoppedByRecovery', 'AttemptsExhausted',
               'ResolvedByRecovery')
GROUP BY job_id, attempt_id
HAVING count(*) > 1;
