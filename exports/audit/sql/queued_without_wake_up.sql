-- Promise: I5
-- Violation: a queued export has no wake-up since the write that left it queued.
SELECT j.id, 'is Queued since ' || j.woken_at || ' without a wake-up of its own'
FROM export_jobs j
WHERE j.status = 'Queued'
  AND NOT EXISTS (
      SELECT FROM outbox o WHERE o.job_id = j.id AND o.kind = 'ExportReady' AND o.created_at >= j.woken_at);
