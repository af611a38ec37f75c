-- Promise: I2
-- Violation: the row counts other attempts than its history records.
WITH claims AS (
    SELECT job_id, count(*) AS recorded FROM export_attempt_events WHERE kind = 'Claimed' GROUP BY job_id)
SELECT j.id, 'counts ' || j.attempt_count || ' attempts, recorded are ' || coalesce(claims.recorded, 0)
FROM export_jobs j LEFT JOIN claims ON claims.job_id = j.id
WHERE j.attempt_count <> coalesce(claims.recorded, 0);
