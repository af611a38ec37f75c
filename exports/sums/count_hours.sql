-- Sums up what happened in each hour since the last one that was counted, which may still have grown, and a day
-- back at most. What is summed is never changed or removed, so that counting again can only find more: the larger
-- sum is kept, and two that count at once do not disturb each other. A transaction that began before its hour was
-- over and commits later than an hour after is the one thing missed; every login's statement timeout forbids it.
-- How an attempt ended stands first in the detail of the event that ended it.
WITH since AS MATERIALIZED (
    SELECT greatest(date_trunc('hour', clock_timestamp(), 'UTC') - interval '25 hours',
                    max(hour) - interval '1 hour') AS at
    FROM hourly_sums),
happened AS (
    SELECT j.created_at AS at, j.tenant_id, 'Created' AS what
    FROM export_jobs j
    WHERE j.created_at >= (SELECT at FROM since)
    UNION ALL
    SELECT e.recorded_at, j.tenant_id,
           CASE WHEN e.kind IN ('Finished', 'ResolvedByRecovery') THEN split_part(e.detail, ':', 1)
                WHEN e.kind IN ('Failed', 'AttemptsExhausted') THEN 'Failed'
                ELSE 'Stopped' END
    FROM export_attempt_events e JOIN export_jobs j ON j.id = e.job_id
    WHERE e.recorded_at >= (SELECT at FROM since)
      AND e.kind IN ('Finished', 'ResolvedByRecovery', 'Failed', 'AttemptsExhausted', 'Stopped', 'StoppedByRecovery')
    UNION ALL
    SELECT c.recorded_at, c.tenant_id, 'Canceled'
    FROM cancellation_requests c
    WHERE c.recorded_at >= (SELECT at FROM since) AND c.outcome = 'CanceledWhileQueued'
    UNION ALL
    SELECT r.recorded_at, j.tenant_id, 'Rejected'
    FROM export_rejections r JOIN export_jobs j ON j.id = r.job_id
    WHERE r.recorded_at >= (SELECT at FROM since)),
forgotten AS (
    DELETE FROM hourly_sums WHERE hour < clock_timestamp() - interval '8 days')
INSERT INTO hourly_sums AS s (hour, tenant_id, what, count)
SELECT date_trunc('hour', at, 'UTC'), tenant_id, what, count(*)
FROM happened
GROUP BY 1, 2, 3
ON CONFLICT (hour, tenant_id, what) DO UPDATE SET count = excluded.count WHERE s.count < excluded.count
