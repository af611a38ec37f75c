-- Promise: I5
-- Broken: an export was woken under an open hold, at another destination than asked, or just after it was woken.
SELECT t.job_id, t.statement || ' under ' || coalesce(h.cause, 'no hold')
FROM told t JOIN interleavings.before b ON b.id = t.job_id
LEFT JOIN holds h ON h.ended_at IS NULL AND (h.until IS NULL OR h.until > clock_timestamp()) AND (t.statement = 'sweep' OR h.cause NOT IN ('Cap', 'Rate'))
                 AND CASE WHEN h.job_id IS NOT NULL THEN h.job_id = b.id AND h.version = b.version
                          WHEN h.destination_id IS NOT NULL THEN h.destination_id = b.destination_id
                          ELSE coalesce(h.tenant_id = b.tenant_id, true) END
WHERE t.statement IN ('wake_waiting', 'sweep') AND t.applied
  AND (h.id IS NOT NULL OR t.statement = 'wake_waiting' AND t.destination_id <> b.destination_id
       OR EXISTS (SELECT FROM told w
                  WHERE w.applied AND w.n < t.n AND w.job_id = t.job_id
                    AND w.statement IN ('sweep', 'wake_waiting', 'requeue', 'change_terms')))
