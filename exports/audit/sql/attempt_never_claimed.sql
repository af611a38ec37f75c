-- Promise: I2
-- Violation: the row names an attempt that is not the last one claimed.
WITH last_claim AS (
    SELECT DISTINCT ON (job_id) job_id, attempt_id
    FROM export_attempt_events
    WHERE kind = 'Claimed'
    ORDER BY job_id, id DESC)
SELECT j.id, 'names attempt ' || j.attempt_id || ', the last one claimed is ' || coalesce(c.attempt_id::text, 'none')
FROM export_jobs j LEFT JOIN last_claim c ON c.job_id = j.id
WHERE j.attempt_id IS NOT NULL AND j.attempt_id IS DISTINCT FROM c.attempt_id;
