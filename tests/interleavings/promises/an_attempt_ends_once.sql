-- Promise: I1
-- Broken: one attempt has two ends: two writers won.
SELECT job_id, string_agg(kind, ' and ' ORDER BY id)
FROM chain
WHERE kind IN ('Stopped', 'Failed', 'Finished', 'RequeuedByRecovery', 'StoppedByRecovery', 'AttemptsExhausted',
               'ResolvedByRecovery')
GROUP BY job_id, attempt_id
HAVING count(*) > 1
