-- Moves: nothing; the gate of a destination, under which its free slots are counted and one is taken.
-- Guard: none.
-- Locks: the destination's gate, an advisory lock until the transaction ends; before any row.
-- Role: exports_worker
-- Returns: one row, without meaning.
SELECT pg_advisory_xact_lock(hashtextextended(%(destination_id)s::text, 0));
