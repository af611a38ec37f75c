-- Moves: Running → Delivering: cutoff 2, with the expected file and its DeliveryAuthorized event (I2, I4).
-- Guard: this attempt, no stop request, original not Completed, not frozen, lease current by a clock read under every lock.
-- Locks: the job's row FOR NO KEY UPDATE, then its original's FOR SHARE; each lock feeds the next.
-- Role: exports_worker
-- Returns: one row, one word: Authorized, StopRecorded, OriginalCompleted, Frozen, LeaseLapsed or NotOwner.
WITH locked AS MATERIALIZED (
    SELECT id, tenant_id, status, attempt_id, stop_request_id, lease_expires_at, replaces_job_id
    FROM export_jobs
    WHERE id = %(job_id)s::uuid
    FOR NO KEY UPDATE),
original AS MATERIALIZED (
    SELECT o.status
    FROM locked JOIN export_jobs o ON o.tenant_id = locked.tenant_id AND o.id = locked.replaces_job_id
    FOR SHARE OF o),
held AS MATERIALIZED (
    SELECT locked.*, original.status AS original_status, clock_timestamp() AS judged_at
    FROM locked LEFT JOIN original ON true),
judged AS MATERIALIZED (
    SELECT id, judged_at,
           CASE
               WHEN attempt_id IS DISTINCT FROM %(attempt_id)s::uuid THEN 'NotOwner'
               WHEN status <> 'Running' THEN 'NotOwner'
               WHEN stop_request_id IS NOT NULL THEN 'StopRecorded'
               WHEN original_status = 'Completed' THEN 'OriginalCompleted'
               WHEN exports_frozen() THEN 'Frozen'
               WHEN lease_expires_at > judged_at THEN 'Authorized'
               ELSE 'LeaseLapsed'
           END AS word
    FROM held),
authorized AS (
    UPDATE export_jobs j
    SET status = 'Delivering',
        expected_file_name = %(final_name)s::text, expected_file_bytes = %(file_bytes)s::bigint,
        expected_file_sha256 = %(file_sha256)s::bytea, delivery_authorized_at = judged.judged_at
    FROM judged
    WHERE j.id = judged.id AND judged.word = 'Authorized'
    RETURNING j.id, j.attempt_id, j.delivery_authorized_at),
event AS (
    INSERT INTO export_attempt_events (job_id, attempt_id, kind, detail, recorded_at)
    SELECT id, attempt_id, 'DeliveryAuthorized', %(final_name)s::text, delivery_authorized_at FROM authorized),
file AS (
    INSERT INTO authorized_files (attempt_id, job_id, rows)
    SELECT attempt_id, id, %(file_rows)s::bigint FROM authorized)
SELECT coalesce((SELECT word FROM judged), 'NotOwner') AS word;
