-- Promise: I10
-- Broken: what an export is born with was changed, or what is recorded once was recorded again.
SELECT j.id, 'changed what it was born with'
FROM export_jobs j JOIN interleavings.before b ON b.id = j.id
WHERE (j.tenant_id, j.delivery_key, j.created_by, j.created_at) <> (b.tenant_id, b.delivery_key, b.created_by, b.created_at)
   OR j.replaces_job_id IS DISTINCT FROM b.replaces_job_id
   OR b.stop_request_id IS NOT NULL AND j.stop_request_id IS DISTINCT FROM b.stop_request_id
   OR b.cancellation_request_id IS NOT NULL AND j.cancellation_request_id IS DISTINCT FROM b.cancellation_request_id
   OR b.delivery_authorized_at IS NOT NULL
      AND (j.delivery_authorized_at, j.expected_file_name) IS DISTINCT FROM (b.delivery_authorized_at, b.expected_file_name)
