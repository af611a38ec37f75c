-- Promise: I8
-- Violation: two exports of one delivery key are Completed, and no later settling of the original
-- explains it.
WITH pairs AS (
    SELECT o.tenant_id, o.delivery_key, o.id AS original, r.id AS other, r.replaces_job_id = o.id AS replaced
    FROM export_jobs o JOIN export_jobs r
      ON r.tenant_id = o.tenant_id AND r.delivery_key = o.delivery_key AND r.id <> o.id
    WHERE o.status = 'Completed' AND r.status = 'Completed' AND r.replaces_job_id IS NOT NULL
      AND (o.replaces_job_id IS NULL OR o.id < r.id)),
dated AS (
    SELECT pairs.*, settled.kind, settled.detail, settled.observed_by,
           coalesce(pairs.replaced AND settled.recorded_at > authorized.recorded_at, false) AS explained
    FROM pairs
    LEFT JOIN export_attempt_events authorized
      ON authorized.job_id = pairs.other AND authorized.kind = 'DeliveryAuthorized'
    LEFT JOIN LATERAL (
        SELECT e.kind, e.detail, e.observed_by, e.recorded_at
        FROM export_attempt_events e
        WHERE e.job_id = pairs.original AND e.kind IN ('Reconciled', 'Corrected')
        ORDER BY e.id DESC
        LIMIT 1) settled ON true)

SELECT original, 'and ' || other || ' both completed delivery key ' || delivery_key
FROM dated
WHERE NOT explained;
