-- Promise: I5
-- Broken: a queued export has no wake-up since the write that left it queued.
SELECT j.id, 'woken at ' || j.woken_at FROM export_jobs j
WHERE j.status = 'Queued'
  AND NOT EXISTS (SELECT FROM outbox o WHERE o.job_id = j.id AND o.kind = 'ExportReady' AND o.created_at >= j.woken_at)
