-- Promise: I1
-- Broken: a statement changed an export that nobody pointed it at.
SELECT j.id, 'changed from ' || b.status || ' to ' || j.status
FROM export_jobs j JOIN interleavings.before b ON b.id = j.id
WHERE j IS DISTINCT FROM b AND NOT EXISTS (SELECT FROM told t WHERE t.job_id = j.id AND t.applied)
UNION ALL
SELECT f.job_id, f.kind || ' recorded'
FROM fresh f
WHERE NOT EXISTS (SELECT FROM told t WHERE t.job_id = f.job_id AND t.applied)
UNION ALL
SELECT b.id, 'is gone' FROM interleavings.before b WHERE NOT EXISTS (SELECT FROM export_jobs j WHERE j.id = b.id)
UNION ALL
SELECT j.id, 'was born' FROM export_jobs j
WHERE NOT EXISTS (SELECT FROM interleavings.before b WHERE b.id = j.id)
  AND NOT EXISTS (SELECT FROM told t WHERE t.new_id = j.id AND t.applied)
