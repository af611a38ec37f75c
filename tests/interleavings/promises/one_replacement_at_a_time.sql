-- Promise: I8
-- Broken: an original has two replacements that are live, have delivered, or found its file.
SELECT replaces_job_id, count(*) || ' replacements'
FROM export_jobs
WHERE replaces_job_id IS NOT NULL
  AND (status NOT IN ('Canceled', 'Rejected', 'Stopped', 'Failed') OR failure_reason = 'OriginalDelivered')
GROUP BY replaces_job_id
HAVING count(*) > 1
