-- Promise: I2
-- Broken: version and destination are not those that the recorded edits lead to, one after the other.
SELECT j.id, 'version ' || j.version || ' after ' || count(t.id) || ' edits'
FROM export_jobs j LEFT JOIN terms_changes t ON t.job_id = j.id
GROUP BY j.id
HAVING j.version <> 1 + count(t.id)
    OR j.version <> coalesce(max(t.version), 1)
    OR j.destination_id <> coalesce((array_agg(t.to_destination_id ORDER BY t.version DESC))[1], j.destination_id)
