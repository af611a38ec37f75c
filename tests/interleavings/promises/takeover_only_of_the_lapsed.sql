-- Promise: I3
-- Broken: an attempt was taken over whose lease was current.
SELECT f.job_id, f.kind || ' with a lease ' || CASE WHEN renewed.statement IS NULL THEN 'never over' ELSE 'renewed' END
FROM fresh f
JOIN interleavings.before b ON b.id = f.job_id
JOIN told t ON t.applied AND t.job_id = f.job_id
           AND t.statement = CASE f.kind WHEN 'RequeuedByRecovery' THEN 'requeue' WHEN 'StoppedByRecovery' THEN 'stop_expired'
                                         WHEN 'AttemptsExhausted' THEN 'exhaust' ELSE 'resolve' END
LEFT JOIN LATERAL (
    SELECT l.statement FROM told l
    WHERE l.applied AND l.n < t.n AND l.job_id = f.job_id AND l.statement IN ('renew_lease', 'return_lease', 'claim')
    ORDER BY l.n DESC LIMIT 1) renewed ON true
WHERE f.kind IN ('RequeuedByRecovery', 'StoppedByRecovery', 'AttemptsExhausted', 'ResolvedByRecovery')
  AND CASE WHEN renewed.statement IS NULL THEN b.lease_expires_at > clock_timestamp()
           ELSE renewed.statement <> 'return_lease' END
