-- Promise: I7
-- Violation: a process may change or remove what is only ever appended to.
SELECT r.rolname, 'may ' || verb.word || ' ' || history.name
FROM pg_roles r
CROSS JOIN (VALUES ('export_attempt_events'), ('cancellation_requests'), ('deliveries'), ('creation_requests'),
                   ('terms_changes'), ('export_rejections'), ('destination_contracts'), ('contract_decisions'),
                   ('overwrite_agreements'), ('authorized_files'), ('acknowledgments_seen'),
                   ('probe_requests'), ('probe_runs'), ('probe_results')) history (name)
CROSS JOIN (VALUES ('UPDATE'), ('DELETE'), ('TRUNCATE')) verb (word)
WHERE starts_with(r.rolname, 'exports_') AND r.rolname <> 'exports_owner'
  AND (has_table_privilege(r.oid, history.name::regclass, verb.word)
       OR (verb.word = 'UPDATE' AND has_any_column_privilege(r.oid, history.name::regclass, 'UPDATE')));
