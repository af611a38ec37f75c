-- Promise: I4
-- Violation: delivery was authorized although a stop request was recorded.
SELECT id, 'has stop request ' || stop_request_id || ' and was authorized at ' || delivery_authorized_at
FROM export_jobs
WHERE stop_request_id IS NOT NULL AND delivery_authorized_at IS NOT NULL;
