-- Promise: I4
-- Broken: delivery was authorized although somebody had asked to stop.
SELECT id, 'stop ' || stop_request_id FROM export_jobs
WHERE stop_request_id IS NOT NULL AND delivery_authorized_at IS NOT NULL
