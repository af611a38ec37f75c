-- Promise: I4
-- Broken: delivery was authorized while everything was frozen.
SELECT f.job_id, 'authorized at ' || f.recorded_at
FROM fresh f JOIN holds h ON h.cause = 'Frozen' AND h.ended_at IS NULL AND h.created_at < f.recorded_at
WHERE f.kind = 'DeliveryAuthorized'
