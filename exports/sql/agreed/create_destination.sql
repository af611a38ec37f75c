-- Moves: nothing; a destination without a contract, where exports wait until one is confirmed.
-- Guard: an id and, within its tenant, a name that no other destination has.
-- Locks: none.
-- Role: exports_api
-- Returns: one row: its id; no row when the id or the name is taken.
INSERT INTO destinations (id, tenant_id, name, is_enabled)
VALUES (%(destination_id)s::uuid, %(tenant_id)s::uuid, %(name)s::text, true)
ON CONFLICT DO NOTHING
RETURNING id;
