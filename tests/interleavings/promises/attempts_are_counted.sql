-- Promise: I2
-- Broken: the row counts other attempts than the history has claims, or names another than the last claimed.
SELECT j.id, j.attempt_count || ' counted, ' || count(c.id) || ' claimed'
FROM export_jobs j LEFT JOIN chain c ON c.job_id = j.id AND c.kind = 'Claimed'
GROUP BY j.id
HAVING j.attempt_count <> count(c.id)
    OR j.attempt_id IS NOT NULL AND j.attempt_id <> (array_agg(c.attempt_id ORDER BY c.id DESC))[1]
