-- Moves: nothing; a credential, sealed before it came here, which no login of the console can read back.
-- Guard: an id that no other has.
-- Locks: none; the destination's row is held by whoever runs it.
-- Role: exports_api
-- Returns: one row: its id; no row when the id is taken.
INSERT INTO destination_secrets (id, destination_id, ciphertext, created_by, created_at)
VALUES (%(secret_id)s::uuid, %(destination_id)s::uuid, %(ciphertext)s::bytea, %(created_by)s::text, clock_timestamp())
ON CONFLICT (id) DO NOTHING
RETURNING id;
