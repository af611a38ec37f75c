-- Promise: I4
-- Violation: a replacement passed cutoff 2 although its original was recorded as
-- Completed by then. Both hold the original's row, so the recorded times are in the order of their commits.
SELECT r.id, 'was authorized at ' || a.recorded_at || ', its original ' || r.replaces_job_id || ' was Completed at '
             || o.recorded_at
FROM export_jobs r
JOIN export_attempt_events a ON a.job_id = r.id AND a.kind = 'DeliveryAuthorized'
CROSS JOIN LATERAL (
    SELECT e.kind, e.detail, e.recorded_at
    FROM export_attempt_events e
    WHERE e.job_id = r.replaces_job_id AND e.recorded_at < a.recorded_at
      AND e.kind IN ('Finished', 'ResolvedByRecovery', 'Reconciled', 'Corrected')
    ORDER BY e.id DESC
    LIMIT 1) o
WHERE r.replaces_job_id IS NOT NULL
  AND CASE o.kind
          WHEN 'Corrected' THEN starts_with(o.detail, 'Failed to Completed: ')
          ELSE starts_with(o.detail, 'Completed')
      END;
