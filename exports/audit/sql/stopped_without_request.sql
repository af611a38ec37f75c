-- Promise: I9
-- Violation: an export was cancelled or asked to stop, and no click on record did it.
SELECT j.id, 'is ' || j.status || ' by request ' || named.request_id || ', which is '
             || coalesce('recorded as ' || r.outcome, 'not recorded')
FROM export_jobs j
CROSS JOIN LATERAL (VALUES (j.cancellation_request_id, 'CanceledWhileQueued'),
                           (j.stop_request_id, 'StopRequested')) named (request_id, outcome)
LEFT JOIN cancellation_requests r ON r.tenant_id = j.tenant_id AND r.id = named.request_id AND r.job_id = j.id
WHERE named.request_id IS NOT NULL AND r.outcome IS DISTINCT FROM named.outcome;
