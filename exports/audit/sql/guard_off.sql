-- Promise: I10
-- Violation: a trigger that refuses what the tables of states and roles do not allow is missing or off.
SELECT guarded.name, 'has no guard that is on'
FROM (VALUES ('export_jobs'), ('export_attempt_events')) guarded (name)
WHERE NOT EXISTS (
    SELECT FROM pg_trigger t
    WHERE t.tgrelid = guarded.name::regclass AND NOT t.tgisinternal AND t.tgenabled IN ('O', 'A'))
UNION ALL
SELECT t.tgrelid::regclass::text, 'has its trigger ' || t.tgname || ' off'
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal AND t.tgenabled NOT IN ('O', 'A');
