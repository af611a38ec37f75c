-- Promise: I8
-- Violation: a delivery key has not exactly the one original that its delivery names.
SELECT j.id, 'is an original of key ' || j.delivery_key || ', its delivery names '
             || coalesce(d.original_job_id::text, 'none')
FROM export_jobs j LEFT JOIN deliveries d ON d.tenant_id = j.tenant_id AND d.delivery_key = j.delivery_key
WHERE j.replaces_job_id IS NULL AND d.original_job_id IS DISTINCT FROM j.id
UNION ALL
SELECT j.id, 'carries key ' || j.delivery_key || ' but replaces ' || j.replaces_job_id || ', not that key''s original'
FROM export_jobs j LEFT JOIN deliveries d ON d.tenant_id = j.tenant_id AND d.delivery_key = j.delivery_key
WHERE j.replaces_job_id IS NOT NULL AND d.original_job_id IS DISTINCT FROM j.replaces_job_id;
