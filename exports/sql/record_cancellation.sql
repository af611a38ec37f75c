-- Moves: nothing; records the click, what it found and its outcome (I9).
-- Guard: the request id is new in this tenant, else a unique violation and nothing is written.
-- Locks: the job's row, already held.
-- Role: exports_api
-- Returns: one row: every column of the record.
INSERT INTO cancellation_requests (tenant_id, id, job_id, requested_by, reason, outcome, found_status,
                                   found_attempt_id, found_attempt_count, found_delivery_authorized_at)
VALUES (%(tenant_id)s::uuid, %(request_id)s::uuid, %(job_id)s::uuid, %(requested_by)s::text, %(reason)s::text,
        %(outcome)s::text, %(found_status)s::text, %(found_attempt_id)s::uuid, %(found_attempt_count)s::int,
        %(found_delivery_authorized_at)s::timestamptz)
RETURNING tenant_id, id, job_id, requested_by, reason, outcome, found_status, found_attempt_id,
          found_attempt_count, found_delivery_authorized_at, recorded_at;
