-- Promise: I2
-- Violation: the terms are not those that the recorded edits lead to.
WITH edits AS (
    SELECT job_id, count(*) AS edits, (array_agg(to_destination_id ORDER BY version DESC))[1] AS destination_id
    FROM terms_changes
    GROUP BY job_id)
SELECT j.id, 'is in version ' || j.version || ' after ' || coalesce(e.edits, 0) || ' recorded edits'
             || CASE WHEN e.destination_id <> j.destination_id THEN ', and goes elsewhere than the last' ELSE '' END
FROM export_jobs j LEFT JOIN edits e ON e.job_id = j.id
WHERE j.version <> 1 + coalesce(e.edits, 0)
   OR e.destination_id <> j.destination_id;
