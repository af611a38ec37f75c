-- Moves: nothing; marks wake-ups that the broker accepted.
-- Guard: not yet published.
-- Locks: the outbox rows, already held.
-- Role: exports_dispatcher
-- Returns: one row per wake-up marked: message_id.
UPDATE outbox SET published_at = clock_timestamp()
WHERE message_id = ANY(%(message_ids)s::uuid[]) AND published_at IS NULL
RETURNING message_id;
