-- Promise: I10
-- Broken: a row has columns that its status does not allow, a lease that nobody owns or an owner without one.
SELECT id, status || ' with lease ' || coalesce(lease_expires_at::text, 'none') || ', stop '
           || coalesce(stop_request_id::text, 'none') || ', attempt ' || coalesce(attempt_id::text, 'none')
FROM export_jobs
WHERE (cancellation_request_id IS NOT NULL) <> (status = 'Canceled')
   OR (lease_expires_at IS NOT NULL) <> (status IN ('Running', 'Delivering'))
   OR num_nonnulls(expected_file_name, expected_file_bytes, expected_file_sha256, delivery_authorized_at) NOT IN (0, 4)
   OR (attempt_id IS NULL) <> (status IN ('Queued', 'Canceled', 'Rejected'))
   OR (claimed_by IS NULL) <> (attempt_id IS NULL)
   OR (delivery_authorized_at IS NULL)
      <> (status NOT IN ('Delivering', 'Completed', 'OutcomeUnknown')
          AND (status <> 'Failed' OR NOT EXISTS (
              SELECT FROM chain c WHERE c.job_id = export_jobs.id AND c.kind = 'DeliveryAuthorized')))
   OR status = 'Stopped' AND stop_request_id IS NULL
   OR status IN ('Queued', 'Canceled', 'Rejected') AND stop_request_id IS NOT NULL
   OR (failure_reason IS NOT NULL) <> (status = 'Failed')
