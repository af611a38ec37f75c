-- Promise: I5
-- Broken: a wake-up was taken by two dispatchers at once or after it was published, or marked unasked or twice.
SELECT o.message_id, 'taken ' || taken.times || ' times, published before ' || coalesce(o.published_at::text, 'never')
FROM interleavings.outbox_before o
CROSS JOIN LATERAL (
    SELECT count(*) AS times FROM told t WHERE t.statement = 'take_outbox' AND t.handled ? o.message_id::text) taken
JOIN outbox n ON n.message_id = o.message_id
WHERE taken.times > 1
   OR taken.times > 0 AND o.published_at IS NOT NULL
   OR taken.times = 0 AND o.published_at IS DISTINCT FROM n.published_at
   OR o.published_at IS NOT NULL AND o.published_at <> n.published_at
