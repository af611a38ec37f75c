-- Promise: I2
-- Violation: a refusal by policy and its recorded reasons do not stand together.
SELECT coalesce(j.id, r.job_id), 'is ' || coalesce(j.status, 'missing') || ', reasons are recorded for version '
                                 || coalesce(r.version::text, 'none')
FROM (SELECT id, status, version FROM export_jobs WHERE status = 'Rejected') j
FULL JOIN export_rejections r ON r.job_id = j.id AND r.version = j.version
WHERE j.id IS NULL OR r.job_id IS NULL;
