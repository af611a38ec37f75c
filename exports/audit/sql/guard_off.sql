-- Promise: I10
-- Violation: a trigger that refuses what the tables of states and roles do not allow is missing or off.
SELECT guard.on_table, 'has no trigger ' || guard.name || ' that is on'
FROM (VALUES ('export_jobs', 'tg_export_jobs_birth'), ('export_jobs', 'tg_export_jobs_birth_proof'),
             ('export_jobs', 'tg_export_jobs_move'), ('export_jobs', 'tg_export_jobs_proof'),
             ('export_attempt_events', 'tg_export_attempt_events_kind')) guard (on_table, name)
WHERE NOT EXISTS (
    SELECT FROM pg_trigger t
    WHERE t.tgrelid = guard.on_table::regclass AND t.tgname = guard.name AND t.tgenabled IN ('O', 'A'));
