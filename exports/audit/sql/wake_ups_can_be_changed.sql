-- Promise: I7
-- Violation: a process may do more to the outbox than add to it and mark what was published.
SELECT r.rolname, 'may ' || may.words
FROM pg_roles r
CROSS JOIN LATERAL (
    SELECT verb.word || ' outbox' AS words
    FROM (VALUES ('DELETE'), ('TRUNCATE')) verb (word)
    WHERE has_table_privilege(r.oid, 'outbox'::regclass, verb.word)
    UNION ALL
    SELECT 'UPDATE outbox.' || a.attname
    FROM pg_attribute a
    WHERE a.attrelid = 'outbox'::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'published_at'
      AND has_column_privilege(r.oid, a.attrelid, a.attnum, 'UPDATE')) may
WHERE starts_with(r.rolname, 'exports_') AND r.rolname <> 'exports_owner';
