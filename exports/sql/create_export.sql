-- Moves: (born) → Queued, with its delivery key, its creation request and its first wake-up (I2, I5).
-- Guard: none to lose a race on; a taken id or key is a unique violation and writes nothing.
-- Locks: none waited for beyond the unique indexes.
-- Role: exports_api
-- Returns: one row: the job's id.
WITH delivery AS (
    INSERT INTO deliveries (tenant_id, delivery_key, original_job_id)
    VALUES (%(tenant_id)s::uuid, %(delivery_key)s::text, %(job_id)s::uuid)),
request AS (
    INSERT INTO creation_requests (job_id, tenant_id, requested_by, destination_id)
    VALUES (%(job_id)s::uuid, %(tenant_id)s::uuid, %(created_by)s::text, %(destination_id)s::uuid)),
created AS (
    INSERT INTO export_jobs (id, tenant_id, status, version, destination_id, delivery_key, created_by, woken_at)
    VALUES (%(job_id)s::uuid, %(tenant_id)s::uuid, 'Queued', 1, %(destination_id)s::uuid, %(delivery_key)s::text,
            %(created_by)s::text, clock_timestamp())
    RETURNING id, tenant_id)
INSERT INTO outbox (message_id, kind, job_id, tenant_id, created_at)
SELECT gen_random_uuid(), 'ExportReady', id, tenant_id, clock_timestamp() FROM created
RETURNING job_id;
