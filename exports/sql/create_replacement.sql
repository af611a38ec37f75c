-- Moves: (born) → Queued as the replacement of an original, carrying its delivery key (I8).
-- Guard: the original is an original of this tenant, and OutcomeUnknown or Failed without having finalized.
-- Locks: the original FOR NO KEY UPDATE: a correction of it commits first or waits, evidence of it never does;
-- then the unique index.
-- Role: exports_api
-- Returns: one row, the replacement's id; no row when the original may not be replaced.
WITH original AS (
    SELECT id, tenant_id, destination_id, delivery_key
    FROM export_jobs
    WHERE tenant_id = %(tenant_id)s::uuid AND id = %(original_job_id)s::uuid AND replaces_job_id IS NULL
      AND (status = 'OutcomeUnknown'
           OR (status = 'Failed' AND failure_reason IN ('BuildFailed', 'AttemptsExhausted', 'NotDelivered')))
    FOR NO KEY UPDATE),
request AS (
    INSERT INTO creation_requests (job_id, tenant_id, requested_by, destination_id, replaces_job_id)
    SELECT %(job_id)s::uuid, tenant_id, %(created_by)s::text, destination_id, id FROM original),
created AS (
    INSERT INTO export_jobs (id, tenant_id, status, version, destination_id, delivery_key, replaces_job_id,
                             created_by, replacement_reason, overwrite_agreement_ref, woken_at)
    SELECT %(job_id)s::uuid, tenant_id, 'Queued', 1, destination_id, delivery_key, id, %(created_by)s::text,
           %(replacement_reason)s::text, %(overwrite_agreement_ref)s::text, clock_timestamp()
    FROM original
    RETURNING id, tenant_id)
INSERT INTO outbox (message_id, kind, job_id, tenant_id, created_at)
SELECT gen_random_uuid(), 'ExportReady', id, tenant_id, clock_timestamp() FROM created
RETURNING job_id;
