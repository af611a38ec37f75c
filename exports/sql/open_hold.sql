-- Moves: nothing; records why a destination's exports wait, by the machine's own judgement (I5).
-- Guard: one open hold of a cause at a destination; another only makes it last longer.
-- Locks: the open hold's row, where there is one.
-- Role: exports_worker
-- Returns: one row: the hold's id.
INSERT INTO holds (id, tenant_id, destination_id, cause, reason, created_by, created_at, until)
VALUES (gen_random_uuid(), %(tenant_id)s::uuid, %(destination_id)s::uuid, %(cause)s::text, %(reason)s::text,
        %(created_by)s::text, clock_timestamp(), clock_timestamp() + make_interval(secs => %(for_seconds)s::float8))
ON CONFLICT (destination_id, cause) WHERE ended_at IS NULL AND cause IN ('Cap', 'Rate', 'Unreachable')
DO UPDATE SET until = greatest(holds.until, excluded.until)
RETURNING id;
