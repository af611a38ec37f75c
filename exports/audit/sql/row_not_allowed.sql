-- Promise: I10
-- Violation: the row has columns that its status does not allow.
SELECT id, 'is ' || status || ' with attempt ' || coalesce(attempt_id::text, 'none') || ', stop '
           || coalesce(stop_request_id::text, 'none') || ', cancellation '
           || coalesce(cancellation_request_id::text, 'none') || ', authorized '
           || coalesce(delivery_authorized_at::text, 'never')
FROM export_jobs
WHERE version < 1 OR attempt_count < 0 OR sweep_count < 0
   OR (cancellation_request_id IS NOT NULL) <> (status = 'Canceled')
   OR num_nonnulls(expected_file_name, expected_file_bytes, expected_file_sha256, delivery_authorized_at)
      NOT IN (0, 4)
   OR NOT CASE
              WHEN status IN ('Queued', 'Canceled', 'Rejected')
                  THEN num_nonnulls(attempt_id, claimed_by, stop_request_id, delivery_authorized_at) = 0
              WHEN status = 'Stopped' THEN num_nonnulls(attempt_id, stop_request_id) = 2
                                           AND delivery_authorized_at IS NULL
              WHEN status = 'Running' THEN attempt_id IS NOT NULL AND delivery_authorized_at IS NULL
              WHEN status = 'Failed' THEN attempt_id IS NOT NULL
              ELSE num_nonnulls(attempt_id, delivery_authorized_at) = 2 AND stop_request_id IS NULL
          END;
