-- Promise: I4
-- Broken: a replacement was authorized after its original had been recorded as Completed.
SELECT r.id, 'authorized at ' || r.delivery_authorized_at || ', original completed at ' || c.recorded_at
FROM export_jobs r JOIN chain c ON c.job_id = r.replaces_job_id AND c.leads_to = 'Completed'
WHERE r.delivery_authorized_at > c.recorded_at
  AND NOT EXISTS (
      SELECT FROM chain later
      WHERE later.job_id = c.job_id AND later.id > c.id AND later.leads_to = 'Failed'
        AND later.recorded_at < r.delivery_authorized_at)
