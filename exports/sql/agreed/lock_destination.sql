-- Moves: nothing; what is judged after it is judged by everything committed before.
-- Guard: a destination of this tenant.
-- Locks: the destination's row FOR NO KEY UPDATE: exports to it are created meanwhile, its contract is not changed.
-- Role: exports_api
-- Returns: one row: the id of its active contract; no row when this tenant has no such destination.
SELECT active_contract_id FROM destinations
WHERE id = %(destination_id)s::uuid AND tenant_id = %(tenant_id)s::uuid
FOR NO KEY UPDATE;
