-- Promise: I8
-- Violation: one export passed cutoff 2 more than once.
SELECT job_id, 'was authorized for delivery ' || count(*) || ' times'
FROM export_attempt_events
WHERE kind = 'DeliveryAuthorized'
GROUP BY job_id
HAVING count(*) > 1;
