-- Promise: I5
-- Broken: wake-ups and what causes them (birth, requeue, edit, sweep) do not match one to one.
SELECT j.id, 'wake-ups: ' || woken.count || ', causes: ' || causes.count
FROM export_jobs j
CROSS JOIN LATERAL (SELECT count(*) FROM outbox o WHERE o.job_id = j.id) woken
CROSS JOIN LATERAL (
    SELECT 1 + j.sweep_count
           + (SELECT count(*) FROM chain c WHERE c.job_id = j.id AND c.kind = 'RequeuedByRecovery')
           + (SELECT count(*) FROM terms_changes t WHERE t.job_id = j.id)
           + (SELECT count(*) FROM told t WHERE t.statement = 'wake_waiting' AND t.applied AND t.job_id = j.id) AS count) causes
WHERE woken.count <> causes.count
UNION ALL
SELECT o.job_id, 'a wake-up for no export' FROM outbox o
WHERE NOT EXISTS (SELECT FROM export_jobs j WHERE j.id = o.job_id)
