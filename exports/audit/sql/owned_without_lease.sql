-- Promise: I3
-- Violation: an export is owned without a lease, or keeps one that nobody owns.
SELECT id, 'is ' || status || ' with lease ' || coalesce(lease_expires_at::text, 'none') || ' and attempt '
           || coalesce(attempt_id::text, 'none')
FROM export_jobs
WHERE (status IN ('Running', 'Delivering'))
      <> (lease_expires_at IS NOT NULL AND attempt_id IS NOT NULL AND claimed_by IS NOT NULL)
   OR (status NOT IN ('Running', 'Delivering') AND lease_expires_at IS NOT NULL);
