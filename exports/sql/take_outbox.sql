-- Moves: nothing; locks unpublished wake-ups for one dispatcher, in rounds over tenants, the oldest of each first.
-- Guard: not yet published; rows another dispatcher holds are passed over.
-- Locks: at most the batch's outbox rows.
-- Role: exports_dispatcher
-- Returns: one row per wake-up: message_id, job_id, tenant_id; each tenant's first before any tenant's second.
WITH RECURSIVE first_tenant AS (
    SELECT coalesce(
        (SELECT tenant_id FROM outbox WHERE published_at IS NULL AND tenant_id > %(after_tenant)s::uuid
         ORDER BY tenant_id LIMIT 1),
        (SELECT tenant_id FROM outbox WHERE published_at IS NULL ORDER BY tenant_id LIMIT 1)) AS tenant_id),
turn AS (
    SELECT 1 AS place, tenant_id FROM first_tenant WHERE tenant_id IS NOT NULL
    UNION ALL
    -- From tenant to tenant through the index, never over a tenant's rows; past the last it begins anew.
    SELECT turn.place + 1, following.tenant_id
    FROM turn, first_tenant, LATERAL (
        SELECT coalesce(
            (SELECT tenant_id FROM outbox WHERE published_at IS NULL AND tenant_id > turn.tenant_id
             ORDER BY tenant_id LIMIT 1),
            (SELECT tenant_id FROM outbox WHERE published_at IS NULL ORDER BY tenant_id LIMIT 1)) AS tenant_id
        ) AS following
    WHERE turn.place < %(batch)s::int AND following.tenant_id <> first_tenant.tenant_id)
SELECT oldest.message_id, oldest.job_id, turn.tenant_id
FROM turn, LATERAL (
    SELECT message_id, job_id, created_at FROM outbox
    WHERE published_at IS NULL AND tenant_id = turn.tenant_id
    ORDER BY created_at
    LIMIT (SELECT %(batch)s::int / count(*) FROM turn)
    FOR UPDATE SKIP LOCKED) AS oldest
ORDER BY row_number() OVER (PARTITION BY turn.place ORDER BY oldest.created_at), turn.place;
