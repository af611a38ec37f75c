-- Promise: I7
-- Violation: a process logs in as somebody who can lift every rule of the database.
SELECT r.rolname, 'is a superuser or acts as exports_owner'
FROM pg_roles r
WHERE starts_with(r.rolname, 'exports_') AND r.rolname <> 'exports_owner'
  AND (r.rolsuper OR r.rolbypassrls OR pg_has_role(r.oid, 'exports_owner', 'MEMBER'))
UNION ALL
SELECT r.rolname, 'owns ' || c.relname
FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
  AND starts_with(r.rolname, 'exports_') AND r.rolname <> 'exports_owner';
