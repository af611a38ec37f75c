-- Promise: I2
-- Broken: what writes said they did and what is recorded do not match one to one.
WITH proof (statement, kind) AS (VALUES
    ('claim', 'Claimed'), ('authorize_delivery', 'DeliveryAuthorized'), ('finish_stopped', 'Stopped'),
    ('finish_failed', 'Failed'), ('finish_delivery', 'Finished'), ('requeue', 'RequeuedByRecovery'),
    ('stop_expired', 'StoppedByRecovery'), ('exhaust', 'AttemptsExhausted'), ('resolve', 'ResolvedByRecovery'),
    ('reconcile', 'Reconciled'), ('correct', 'Corrected'), ('append_evidence', 'DeliveryEvidence'), ('collect_acknowledgment', 'DeliveryEvidence'),
    ('complete_acknowledged', 'Reconciled')),
said AS (
    SELECT coalesce(p.kind, t.statement) AS kind, t.job_id, count(*)
    FROM told t LEFT JOIN proof p USING (statement)
    WHERE t.applied AND (p.kind IS NOT NULL OR t.statement IN ('reject', 'change_terms', 'record_cancellation'))
    GROUP BY 1, 2),
recorded AS (
    SELECT kind, job_id, count(*) FROM fresh GROUP BY 1, 2
    UNION ALL
    SELECT 'reject', r.job_id, count(*) FROM export_rejections r, interleavings.mark m
    WHERE r.recorded_at > m.taken_at GROUP BY 2
    UNION ALL
    SELECT 'change_terms', c.job_id, count(*) FROM terms_changes c, interleavings.mark m
    WHERE c.recorded_at > m.taken_at GROUP BY 2
    UNION ALL
    SELECT 'record_cancellation', c.job_id, count(*) FROM cancellation_requests c, interleavings.mark m
    WHERE c.recorded_at > m.taken_at GROUP BY 2)
SELECT coalesce(s.job_id, r.job_id),
       coalesce(s.kind, r.kind) || ' said ' || coalesce(s.count, 0) || ' times, recorded ' || coalesce(r.count, 0)
FROM said s FULL JOIN recorded r ON r.kind = s.kind AND r.job_id = s.job_id
WHERE s.count IS DISTINCT FROM r.count
