-- Promise: I2
-- Violation: the expected file of cutoff 2 and its event do not stand together.
SELECT j.id, 'expects ' || coalesce(quote_literal(j.expected_file_name), 'no file') || ', authorized was '
             || coalesce(quote_literal(e.detail), 'none')
FROM export_jobs j LEFT JOIN export_attempt_events e
  ON e.job_id = j.id AND e.attempt_id = j.attempt_id AND e.kind = 'DeliveryAuthorized'
WHERE (j.delivery_authorized_at IS NULL) <> (e.id IS NULL)
   OR e.detail IS DISTINCT FROM j.expected_file_name
   OR e.recorded_at IS DISTINCT FROM j.delivery_authorized_at;
