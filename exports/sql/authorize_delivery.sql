-- Moves: Running → Delivering: cutoff 2, with the expected file and its DeliveryAuthorized event (I2, I4).
-- Guard: this attempt, no stop request, original not Completed, lease current by a clock read under every lock.
-- Locks: the job's row FOR NO KEY UPDATE, then its original's FOR SHARE; each lock feeds the next.
-- Role: exports_worker
-- Returns: one row, one word: Authorized, StopRecorded, OriginalCompleted, LeaseLapsed or NotOwner.
WITH locked AS MATERIALIZED (
    SELECT id, tenant_id, status, attempt_id, stop_request_id, lease_expires_at, replaces_job_id
    FROM export_jobs
    WHERE id = %(job_id)s::uuid
    FOR NO KEY UPDATE),
original AS MATERIALIZED (
    SELECT o.status
    FROM locked JOIN export_jobs o ON o.tenant_id = locked.tenant_id AND o.id = locked.replaces_job_id
    FOR SHARE OF o),
judged AS MATERIALIZED (
    SELECT locked.id,
           CASE
               WHEN locked.attempt_id IS DISTINCT FROM %(attempt_id)s::uuid THEN 'NotOwner'
               WHEN locked.status <> 'Running' THEN 'NotOwner'
               WHEN locked.stop_request_id IS NOT NULL THEN 'StopRecorded'
               WHEN original.status = 'Completed' THEN 'OriginalCompleted'
               WHEN locked.lease_expires_at > clock_timestamp() THEN 'Authorized'
               ELSE 'LeaseLapsed'
           END AS word
    FROM locked LEFT JOIN original ON true),
authorized AS (
    UPDATE export_jobs j
    SET status = 'Delivering',
        expected_file_name = %(final_name)s::text, expected_file_bytes = %(file_bytes)s::bigint,
        expected_file_sha256 = %(file_sha256)s::bytea, delivery_authorized_at = clock_timestamp()
    FROM judged
    WHERE j.id = judged.id AND judged.word = 'Authorized'
    RETURNING j.id, j.attempt_id, j.delivery_authorized_at),
event AS (
    INSERT INTO export_attempt_events (job_id, attempt_id, kind, detail, recorded_at)
    SELECT id, attempt_id, 'DeliveryAuthorized', %(final_name)s::text, delivery_authorized_at FROM authorized)
SELECT coalesce((SELECT word FROM judged), 'NotOwner') AS word;
