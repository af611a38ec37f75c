-- Promise: I10
-- Broken: who settled an outcome also corrected it, or a delivery never authorized was corrected.
SELECT c.job_id, 'corrected by ' || c.observed_by
FROM fresh c JOIN export_jobs j ON j.id = c.job_id
LEFT JOIN export_attempt_events r ON r.job_id = c.job_id AND r.attempt_id = c.attempt_id AND r.kind = 'Reconciled'
WHERE c.kind = 'Corrected' AND (r.observed_by = c.observed_by AND NOT EXISTS (SELECT FROM told t WHERE t.statement = 'correct' AND t.allowed)
                               OR j.delivery_authorized_at IS NULL)
