-- Promise: I4
-- Broken: delivery was authorized on a lease that was over, or after waiting for a lock until it was.
SELECT j.id, 'lease until ' || b.lease_expires_at || ', authorized at ' || j.delivery_authorized_at
FROM told a
JOIN export_jobs j ON j.id = a.job_id
JOIN interleavings.before b ON b.id = j.id
WHERE a.statement = 'authorize_delivery' AND a.applied AND a.attempt_id = b.attempt_id
  AND (j.delivery_authorized_at >= b.lease_expires_at OR a.has_lapsed)
  AND NOT EXISTS (
      SELECT FROM told t
      WHERE t.statement = 'renew_lease' AND t.applied AND t.attempt_id = a.attempt_id AND t.n < a.n)
