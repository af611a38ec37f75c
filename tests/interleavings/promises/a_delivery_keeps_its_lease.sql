-- Promise: I3
-- Broken: an attempt past cutoff 2 has given its lease back.
SELECT id, status || ' with its lease given back' FROM export_jobs
WHERE status = 'Delivering' AND lease_expires_at = 'epoch'
