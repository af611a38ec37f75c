-- Promise: I1
-- Broken: an attempt works on, or a rejection is of, terms in another version than the one policy evaluated.
SELECT j.id, 'version ' || j.version || ', evaluated ' || c.version
FROM export_jobs j JOIN chain c
  ON c.job_id = j.id AND c.attempt_id = j.attempt_id AND c.kind = 'Claimed'
WHERE c.version <> j.version
UNION ALL
SELECT t.job_id, 'evaluated version ' || t.version || ', recorded ' || coalesce(r.version, c.version)
FROM told t
LEFT JOIN export_rejections r ON r.job_id = t.job_id AND t.statement = 'reject'
LEFT JOIN chain c ON c.job_id = t.job_id AND c.attempt_id = t.attempt_id AND c.kind = 'Claimed'
                               AND t.statement = 'claim'
WHERE t.applied AND t.version <> coalesce(r.version, c.version)
