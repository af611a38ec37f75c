-- Promise: I2
-- Broken: an export was born without its delivery, its request or its key's original.
SELECT j.id, 'born in parts'
FROM export_jobs j
WHERE NOT EXISTS (SELECT FROM creation_requests c WHERE c.job_id = j.id AND c.tenant_id = j.tenant_id)
   OR NOT EXISTS (SELECT FROM deliveries d
                  WHERE d.tenant_id = j.tenant_id AND d.delivery_key = j.delivery_key
                    AND d.original_job_id = coalesce(j.replaces_job_id, j.id))
