-- Promise: I9
-- Violation: what a click was told is not what became of the export.
SELECT j.id, 'request ' || r.id || ' was told ' || r.outcome || ', the export is ' || j.status
FROM cancellation_requests r JOIN export_jobs j ON j.tenant_id = r.tenant_id AND j.id = r.job_id
WHERE NOT CASE r.outcome
              WHEN 'CanceledWhileQueued' THEN j.status = 'Canceled'
                                              AND j.cancellation_request_id IS NOT DISTINCT FROM r.id
              WHEN 'StopRequested' THEN j.stop_request_id IS NOT DISTINCT FROM r.id
              WHEN 'StopAlreadyRequested' THEN j.stop_request_id IS DISTINCT FROM r.id
                                               AND j.stop_request_id IS NOT NULL
              WHEN 'AlreadyCanceled' THEN j.status = 'Canceled'
              WHEN 'AlreadyEnded' THEN j.status IN ('Rejected', 'Stopped', 'Failed')
                                       OR (r.found_status = 'Failed' AND j.status = 'Completed')
              ELSE j.delivery_authorized_at IS NOT DISTINCT FROM r.found_delivery_authorized_at
          END
   OR r.found_attempt_count > j.attempt_count;
