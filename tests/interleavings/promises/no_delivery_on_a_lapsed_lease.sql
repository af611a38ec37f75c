-- Promise: I4
-- Broken: delivery was authorized on a lease that was over.
SELECT j.id, 'lease until ' || b.lease_expires_at || ', authorized at ' || j.delivery_authorized_at
FROM export_jobs j JOIN interleavings.before b ON b.id = j.id
WHERE b.status = 'Running' AND j.delivery_authorized_at >= b.lease_expires_at
  AND j.attempt_id = b.attempt_id
  AND NOT EXISTS (
      SELECT FROM told t WHERE t.statement = 'renew_lease' AND t.applied AND t.attempt_id = j.attempt_id
                           AND t.n < (SELECT min(a.n) FROM told a WHERE a.statement = 'authorize_delivery' AND a.applied))
