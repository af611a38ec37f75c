-- Moves: nothing; a queued export gets another destination, a new version, a record of it and a new wake-up.
-- Guard: this tenant's job, Queued, in the version looked at, no replacement, to an enabled own destination.
-- Locks: the job's row.
-- Role: exports_api
-- Returns: one row: the new version; no row when it started, ended, was edited, or may not move.
WITH target AS (
    SELECT id FROM destinations
    WHERE id = %(destination_id)s::uuid AND tenant_id = %(tenant_id)s::uuid AND is_enabled),
before AS (
    SELECT j.id, j.destination_id FROM export_jobs j WHERE j.id = %(job_id)s::uuid AND j.tenant_id = %(tenant_id)s::uuid
    FOR NO KEY UPDATE),
changed AS (
    UPDATE export_jobs j
    SET destination_id = target.id, version = j.version + 1, woken_at = clock_timestamp()
    FROM target, before
    WHERE j.id = before.id AND j.tenant_id = %(tenant_id)s::uuid AND j.status = 'Queued'
      AND j.version = %(expected_version)s::int AND j.replaces_job_id IS NULL
    RETURNING j.id, j.tenant_id, j.version, j.destination_id, before.destination_id AS from_destination_id),
woken AS (
    INSERT INTO outbox (message_id, kind, job_id, tenant_id, created_at)
    SELECT gen_random_uuid(), 'ExportReady', id, tenant_id, clock_timestamp() FROM changed)
INSERT INTO terms_changes (job_id, version, from_destination_id, to_destination_id, changed_by, reason)
SELECT id, version, from_destination_id, destination_id, %(changed_by)s::text, %(reason)s::text FROM changed
RETURNING version;
