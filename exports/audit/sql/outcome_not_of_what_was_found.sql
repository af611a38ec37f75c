-- Promise: I9
-- Violation: a click was told an outcome that does not follow from what it found.
SELECT job_id, 'request ' || id || ' found ' || found_status || ' and was told ' || outcome
FROM cancellation_requests
WHERE NOT CASE outcome
              WHEN 'CanceledWhileQueued' THEN found_status = 'Queued' AND found_attempt_id IS NULL
              WHEN 'StopRequested' THEN found_status = 'Running'
              WHEN 'StopAlreadyRequested' THEN found_status = 'Running'
              WHEN 'AlreadyCanceled' THEN found_status = 'Canceled'
              WHEN 'AlreadyEnded' THEN found_status IN ('Rejected', 'Stopped', 'Failed')
              WHEN 'TooLate' THEN found_status IN ('Delivering', 'Completed', 'OutcomeUnknown')
                                  AND found_delivery_authorized_at IS NOT NULL
              ELSE false
          END;
