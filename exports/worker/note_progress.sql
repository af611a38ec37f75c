-- Notes how far attempts are, each only while it owns its job: a worker that was overtaken writes nothing.
INSERT INTO attempt_progress AS noted
    (attempt_id, job_id, phase, rows_done, bytes_done, bytes_total, phase_seconds, updated_at)
SELECT j.attempt_id, j.id, t.phase, t.rows_done, t.bytes_done, t.bytes_total, t.phase_seconds, clock_timestamp()
FROM unnest(%(jobs)s::uuid[], %(attempts)s::uuid[], %(phases)s::text[], %(rows)s::bigint[], %(sizes)s::bigint[],
            %(totals)s::bigint[], %(seconds)s::float8[])
         AS t (job_id, attempt_id, phase, rows_done, bytes_done, bytes_total, phase_seconds)
JOIN export_jobs j ON j.id = t.job_id AND j.attempt_id = t.attempt_id AND j.status IN ('Running', 'Delivering')
ON CONFLICT (attempt_id) DO UPDATE
SET phase = excluded.phase, rows_done = excluded.rows_done, bytes_done = excluded.bytes_done,
    bytes_total = excluded.bytes_total, phase_seconds = excluded.phase_seconds, updated_at = excluded.updated_at
