-- Promise: I1
-- Violation: the attempt works on terms that policy evaluated in another version.
SELECT j.id, 'is in version ' || j.version || ', its attempt was claimed in version '
             || coalesce(e.version::text, 'none')
FROM export_jobs j JOIN export_attempt_events e
  ON e.job_id = j.id AND e.attempt_id = j.attempt_id AND e.kind = 'Claimed'
WHERE e.version IS DISTINCT FROM j.version;
