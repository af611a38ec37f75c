-- Promise: I2
-- Violation: an export was created without the record of who asked for it.
SELECT j.id, 'was created by ' || j.created_by || ' without a request'
FROM export_jobs j LEFT JOIN creation_requests r ON r.job_id = j.id
WHERE r.job_id IS NULL OR r.tenant_id <> j.tenant_id;
