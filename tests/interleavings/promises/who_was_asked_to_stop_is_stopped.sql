-- Promise: I9
-- Broken: recovery requeued or gave up an attempt that somebody had asked to stop.
SELECT f.job_id, f.kind || ' though asked to stop'
FROM fresh f JOIN export_jobs j ON j.id = f.job_id
WHERE f.kind IN ('RequeuedByRecovery', 'AttemptsExhausted') AND j.stop_request_id IS NOT NULL
  AND NOT EXISTS (
      SELECT FROM told s
      WHERE s.statement = 'request_stop' AND s.applied AND s.job_id = f.job_id
        AND s.n > (SELECT min(t.n) FROM told t WHERE t.statement IN ('requeue', 'exhaust') AND t.applied))
