-- Moves: nothing; locks the oldest unpublished wake-ups for one dispatcher.
-- Guard: not yet published; rows another dispatcher holds are passed over.
-- Locks: at most the batch's outbox rows.
-- Role: exports_dispatcher
-- Returns: one row per wake-up: message_id, job_id.
SELECT message_id, job_id FROM outbox
WHERE published_at IS NULL
ORDER BY created_at
LIMIT %(batch)s::int
FOR UPDATE SKIP LOCKED;
