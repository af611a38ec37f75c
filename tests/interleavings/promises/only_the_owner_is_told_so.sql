-- Promise: I3
-- Broken: an attempt that does not own the export was told that its write applied, or a write named another attempt.
SELECT t.job_id, t.statement || ' of attempt ' || t.attempt_id || ' applied'
FROM told t LEFT JOIN interleavings.before b ON b.id = t.job_id
WHERE t.applied
  AND t.statement IN ('authorize_delivery', 'renew_lease', 'return_lease', 'finish_failed', 'finish_stopped',
                      'finish_delivery', 'requeue', 'exhaust', 'stop_expired', 'resolve', 'reconcile', 'correct',
                      'complete_acknowledged')
  AND (t.attempt_id IS DISTINCT FROM b.attempt_id
           AND NOT EXISTS (SELECT FROM told c WHERE c.statement = 'claim' AND c.applied AND c.attempt_id = t.attempt_id
                                                AND c.n < t.n)
       OR t.statement NOT IN ('reconcile', 'correct', 'complete_acknowledged') AND EXISTS (
           SELECT FROM told e
           WHERE e.applied AND e.n < t.n AND e.attempt_id = t.attempt_id
             AND e.statement IN ('finish_failed', 'finish_stopped', 'finish_delivery', 'requeue', 'exhaust',
                                 'stop_expired', 'resolve')))
