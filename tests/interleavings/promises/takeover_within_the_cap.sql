-- Promise: I3
-- Broken: a takeover left an export another attempt though it had none, or none though it had one.
SELECT f.job_id, f.kind || ' after ' || b.attempt_count || ' attempts, ' || free.returned || ' given back'
FROM fresh f
JOIN interleavings.before b ON b.id = f.job_id AND b.attempt_id = f.attempt_id
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE c.kind = 'RequeuedByRecovery' AND c.detail = 'returned' AND c.id <> f.id)
           + (b.lease_expires_at = 'epoch' OR EXISTS (
                SELECT FROM told t WHERE t.statement = 'return_lease' AND t.applied AND t.attempt_id = f.attempt_id))::int
           AS returned
    FROM chain c WHERE c.job_id = f.job_id) free
WHERE f.kind IN ('RequeuedByRecovery', 'AttemptsExhausted')
  AND (f.kind = 'AttemptsExhausted')
      <> (b.attempt_count >= 10 * :cap OR b.attempt_count - free.returned >= :cap)
