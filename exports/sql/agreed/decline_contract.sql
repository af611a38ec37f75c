-- Moves: nothing; a proposed version never comes into force, and the next one starts from what is.
-- Guard: the latest version there is, undecided, of this tenant's destination; by anybody, its author too.
-- Locks: none; the destination's row is held by whoever runs it.
-- Role: exports_api
-- Returns: one row: the version; no row when it is not the latest, or decided.
INSERT INTO contract_decisions (contract_id, decision, proposed_by, decided_by, is_one_person, reason)
SELECT c.id, 'Declined', c.created_by, %(decided_by)s::text, c.created_by = %(decided_by)s::text, %(reason)s::text
FROM destination_contracts c JOIN destinations d ON d.id = c.destination_id
WHERE c.id = %(contract_id)s::uuid AND d.tenant_id = %(tenant_id)s::uuid AND NOT EXISTS (
    SELECT FROM destination_contracts n WHERE n.destination_id = c.destination_id AND n.version > c.version)
  -- What came into force before decisions were kept has none, and is decided all the same.
  AND c.id IS DISTINCT FROM d.active_contract_id
ON CONFLICT (contract_id) DO NOTHING
RETURNING contract_id;
