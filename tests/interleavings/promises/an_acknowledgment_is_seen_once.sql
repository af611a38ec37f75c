-- Promise: I6
-- Broken: one acknowledgment became evidence twice, or of an attempt that was never authorized.
SELECT t.job_id, count(*) || ' times' FROM told t
WHERE t.statement = 'collect_acknowledgment' AND t.applied
GROUP BY t.job_id, t.attempt_id
HAVING count(*) > 1
UNION ALL
SELECT t.job_id, 'never authorized' FROM told t
WHERE t.statement = 'collect_acknowledgment' AND t.applied
  AND NOT EXISTS (SELECT FROM chain c WHERE c.job_id = t.job_id AND c.attempt_id = t.attempt_id
                                        AND c.kind = 'DeliveryAuthorized')
