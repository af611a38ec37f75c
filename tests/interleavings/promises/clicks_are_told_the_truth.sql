-- Promise: I9
-- Broken: what a click was told does not follow from what it found, or is not what became of the export.
SELECT c.job_id, c.outcome || ' from ' || c.found_status || ', now ' || j.status
FROM cancellation_requests c JOIN export_jobs j ON j.id = c.job_id
WHERE NOT CASE c.outcome
    WHEN 'CanceledWhileQueued' THEN c.found_status = 'Queued' AND j.status = 'Canceled' AND j.cancellation_request_id = c.id
    WHEN 'StopRequested' THEN c.found_status = 'Running' AND j.stop_request_id = c.id
    WHEN 'StopAlreadyRequested' THEN c.found_status = 'Running' AND j.stop_request_id <> c.id
    WHEN 'AlreadyCanceled' THEN c.found_status = 'Canceled' AND j.status = 'Canceled' AND j.cancellation_request_id <> c.id
    WHEN 'AlreadyEnded' THEN c.found_status IN ('Rejected', 'Stopped', 'Failed')
                             AND j.status IN ('Rejected', 'Stopped', 'Failed', 'Completed')
    ELSE c.found_status IN ('Delivering', 'Completed', 'OutcomeUnknown')
         AND j.delivery_authorized_at IS NOT DISTINCT FROM c.found_delivery_authorized_at
END OR c.found_attempt_count > j.attempt_count OR c.tenant_id <> j.tenant_id
UNION ALL
SELECT j.id, 'names a click that is not recorded' FROM export_jobs j
WHERE EXISTS (
    SELECT FROM (VALUES (j.stop_request_id, 'StopRequested'), (j.cancellation_request_id, 'CanceledWhileQueued'))
        AS named (id, outcome)
    WHERE named.id IS NOT NULL
      AND NOT EXISTS (SELECT FROM cancellation_requests c
                      WHERE c.id = named.id AND c.job_id = j.id AND c.outcome = named.outcome))
