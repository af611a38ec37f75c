-- Promise: I9
-- Broken: a click took an effect and was not recorded.
SELECT t.job_id, t.statement || ' without a record'
FROM told t
WHERE t.statement IN ('cancel_queued', 'request_stop')
  AND NOT EXISTS (SELECT FROM told r WHERE r.session = t.session AND r.statement = 'record_cancellation')
