-- Promise: I5
-- Broken: the sweeper woke an export that was not due, or twice.
SELECT j.id, 'swept ' || j.sweep_count - b.sweep_count || ' times, last woken ' || b.woken_at
FROM export_jobs j JOIN interleavings.before b ON b.id = j.id
WHERE j.sweep_count > b.sweep_count
  AND (b.status <> 'Queued' OR j.sweep_count > b.sweep_count + 1 OR b.woken_at > clock_timestamp() - interval '30 minutes')
