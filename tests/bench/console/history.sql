-- Years of exports with their events, as the owner: made in the order of time, each row from its number alone.
-- Run statement by statement, with secondary indexes and foreign keys away and the triggers off.

INSERT INTO tenants (id, slug, name, is_active)
SELECT md5('tenant ' || t)::uuid, 'tenant-' || t, 'Tenant ' || t, true FROM generate_series(1, %(tenants)s) AS t;

INSERT INTO destinations (id, tenant_id, name, is_enabled)
SELECT md5('destination ' || t || ' ' || d)::uuid, md5('tenant ' || t)::uuid, 'partner-' || t || '-' || d, true
FROM generate_series(1, %(tenants)s) AS t, generate_series(1, 5) AS d;

-- A third belongs to the first tenant, a quarter to the second; the last three tenants have a few, all of them old.
-- The newest are open; of the rest nine in ten are delivered.
WITH numbered AS (
    SELECT i, md5('job ' || i)::uuid AS id,
           CASE WHEN i <= 300 THEN %(tenants)s - i %% 3 WHEN i %% 3 = 0 THEN 1 WHEN i %% 4 = 0 THEN 2
                ELSE 3 + i %% (%(tenants)s - 5) END AS t,
           clock_timestamp() - (%(jobs)s - i) * (interval '120 days' / %(jobs)s) AS born,
           %(jobs)s - i AS age,
           (i * 7919::bigint) %% 1000 AS dice
    FROM generate_series(1, %(jobs)s) AS i),
drawn AS (
    SELECT *,
           CASE WHEN age < %(queued)s THEN CASE WHEN dice < 10 THEN 'Running' WHEN dice < 12 THEN 'Delivering' ELSE 'Queued' END
                WHEN dice < 15 THEN 'Failed' WHEN dice < 35 THEN 'Canceled' WHEN dice < 45 THEN 'Stopped'
                WHEN dice < 55 THEN 'Rejected' WHEN dice < 56 AND i %% 5 = 0 THEN 'OutcomeUnknown' ELSE 'Completed' END AS status,
           CASE WHEN dice < 1 AND i %% 5 = 0 THEN 'FinalNameOccupied' WHEN dice < 4 THEN 'NotDelivered' WHEN dice < 6 THEN 'AttemptsExhausted'
                ELSE 'BuildFailed' END AS reason
    FROM numbered),
told AS (
    SELECT *, status IN ('Running', 'Delivering') AS is_open,
           status IN ('Delivering', 'Completed', 'OutcomeUnknown') OR status = 'Failed' AND reason = 'NotDelivered' AS sent,
           status NOT IN ('Queued', 'Canceled', 'Rejected') AS begun
    FROM drawn)
INSERT INTO export_jobs (id, tenant_id, status, version, destination_id, attempt_id, attempt_count, claimed_by,
    lease_expires_at, stop_request_id, cancellation_request_id, expected_file_name, expected_file_bytes,
    expected_file_sha256, delivery_authorized_at, woken_at, failure_reason, delivery_key, created_by, sweep_count, created_at)
SELECT id, md5('tenant ' || t)::uuid, status, 1, md5('destination ' || t || ' ' || 1 + i %% 5)::uuid,
       CASE WHEN begun THEN md5('attempt ' || i)::uuid END, begun::int, CASE WHEN begun THEN 'worker-' || i %% 4 END,
       CASE WHEN is_open THEN clock_timestamp() + interval '1 day' END,
       CASE WHEN status = 'Stopped' THEN md5('click ' || i)::uuid END,
       CASE WHEN status = 'Canceled' THEN md5('click ' || i)::uuid END,
       CASE WHEN sent THEN 'contacts-' || id || '.csv' END, CASE WHEN sent THEN 100000 END,
       CASE WHEN sent THEN sha256(id::text::bytea) END, CASE WHEN sent THEN born + interval '5 seconds' END,
       born, CASE WHEN status = 'Failed' THEN reason END, id::text,
       CASE WHEN i %% 50 = 0 THEN 'user:olga' WHEN i %% 20011 = 1 THEN 'user:rare' WHEN i < 5000 THEN 'client:gone' ELSE 'client:crm' END,
       CASE WHEN status = 'Queued' AND i %% 2000 = 0 THEN 5 ELSE 0 END, born
FROM told;

INSERT INTO deliveries (tenant_id, delivery_key, original_job_id)
SELECT tenant_id, delivery_key, id FROM export_jobs;

INSERT INTO creation_requests (job_id, tenant_id, requested_by, destination_id, recorded_at)
SELECT id, tenant_id, created_by, destination_id, created_at FROM export_jobs;

INSERT INTO outbox (message_id, kind, job_id, tenant_id, created_at, published_at)
SELECT md5('wake-up ' || id)::uuid, 'ExportReady', id, tenant_id, created_at,
       CASE WHEN created_at < clock_timestamp() - interval '1 minute' THEN created_at + interval '40 milliseconds' END
FROM export_jobs;

INSERT INTO authorized_files (attempt_id, job_id, rows)
SELECT attempt_id, id, 1000 FROM export_jobs WHERE delivery_authorized_at IS NOT NULL;

INSERT INTO cancellation_requests (tenant_id, id, job_id, requested_by, reason, outcome, found_status,
    found_attempt_id, found_attempt_count, recorded_at)
SELECT tenant_id, coalesce(stop_request_id, cancellation_request_id, md5('late ' || id)::uuid), id, 'user:olga', 'wrong list',
       CASE status WHEN 'Canceled' THEN 'CanceledWhileQueued' WHEN 'Stopped' THEN 'StopRequested' ELSE 'AlreadyEnded' END,
       CASE status WHEN 'Canceled' THEN 'Queued' WHEN 'Stopped' THEN 'Running' ELSE status END,
       attempt_id, attempt_count, created_at + interval '1 second'
FROM export_jobs
WHERE status IN ('Canceled', 'Stopped') OR status = 'Completed' AND expected_file_sha256 < '\x02';

INSERT INTO export_rejections (job_id, version, reasons, recorded_at)
SELECT id, 1, '["The destination is disabled."]', created_at + interval '1 second' FROM export_jobs WHERE status = 'Rejected';

-- One in a thousand delivered has evidence that came days later; it stands where it came in.
INSERT INTO export_attempt_events (job_id, attempt_id, kind, version, worker_id, observed_by, detail, recorded_at)
SELECT j.id, j.attempt_id, e.kind, CASE e.kind WHEN 'Claimed' THEN 1 END,
       CASE WHEN e.kind <> 'DeliveryEvidence' THEN j.claimed_by END,
       CASE WHEN e.kind = 'DeliveryEvidence' THEN j.claimed_by END, e.detail, j.created_at + e.after * interval '1 second'
FROM export_jobs j CROSS JOIN LATERAL (VALUES
    (1, 'Claimed', NULL),
    (5, CASE WHEN j.delivery_authorized_at IS NOT NULL THEN 'DeliveryAuthorized' END, j.expected_file_name),
    (6, CASE WHEN j.delivery_authorized_at IS NOT NULL AND j.status <> 'Delivering' THEN 'DeliveryEvidence' END, %(baseline)s),
    (7, CASE WHEN j.delivery_authorized_at IS NOT NULL AND j.status <> 'Delivering' THEN 'DeliveryEvidence' END, %(sent)s),
    (8, CASE WHEN j.status = 'Completed' THEN 'DeliveryEvidence' END, %(answered)s),
    (9, CASE WHEN j.status = 'Completed' THEN 'DeliveryEvidence' END, %(read_back)s),
    (10, CASE WHEN j.status IN ('Completed', 'OutcomeUnknown') THEN 'DeliveryEvidence' END, %(concluded)s),
    (11, CASE WHEN j.status IN ('Completed', 'OutcomeUnknown') OR j.failure_reason = 'NotDelivered' THEN 'Finished'
              WHEN j.status IN ('Failed', 'Stopped') THEN j.status END, j.status || ': as it was seen'),
    (12, CASE WHEN j.status = 'Completed' AND j.expected_file_sha256 < '\x0004' THEN 'DeliveryEvidence' END, %(late)s)
    ) AS e (after, kind, detail)
WHERE j.attempt_id IS NOT NULL AND e.kind IS NOT NULL;

INSERT INTO holds (id, tenant_id, destination_id, cause, reason, created_by, created_at, until, ended_at, ended_by, ended_reason, released_at)
SELECT md5('hold ' || h)::uuid, d.tenant_id, d.id, 'Unreachable', 'nobody answered', 'worker-1',
       clock_timestamp() - h * interval '10 minutes', clock_timestamp(), clock_timestamp(), 'machine', 'over', clock_timestamp()
FROM generate_series(1, 20000) AS h JOIN (SELECT *, row_number() OVER (ORDER BY id) AS n FROM destinations) AS d
  ON d.n = 1 + h %% (%(tenants)s * 5);

INSERT INTO holds (id, tenant_id, destination_id, cause, reason, created_by)
SELECT md5('pause ' || name)::uuid, tenant_id, id, 'Paused', 'their maintenance window', 'user:olga'
FROM destinations WHERE name IN ('partner-1-2', 'partner-3-1');
