-- Promise: I1
-- Broken: an edit was applied to another version than the one looked at, or led elsewhere than asked.
SELECT t.job_id, 'version ' || t.version || ' looked at, ' || t.returned || ' made'
FROM told t LEFT JOIN terms_changes c ON c.job_id = t.job_id AND c.version = t.returned::int
WHERE t.statement = 'change_terms' AND t.applied
  AND (t.returned::int <> t.version + 1 OR c.to_destination_id IS DISTINCT FROM t.destination_id)
