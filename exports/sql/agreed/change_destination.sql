-- Moves: nothing; a destination gets another name, or is opened or closed to new exports.
-- Guard: this tenant's, with the name and state looked at, to a name that no other has.
-- Locks: the destination's row.
-- Role: exports_api
-- Returns: one row: its id; no row when it was changed since, or the name is taken.
UPDATE destinations d
SET name = %(name)s::text, is_enabled = %(is_enabled)s::boolean
WHERE d.id = %(destination_id)s::uuid AND d.tenant_id = %(tenant_id)s::uuid
  AND d.name = %(found_name)s::text AND d.is_enabled = %(found_enabled)s::boolean
  AND NOT EXISTS (SELECT FROM destinations o
                  WHERE o.tenant_id = d.tenant_id AND o.name = %(name)s::text AND o.id <> d.id)
RETURNING d.id;
