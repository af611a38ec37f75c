-- Promise: I1
-- Violation: an attempt was claimed while an earlier one still owned the export, or had ended it.
WITH chain AS (
    SELECT job_id, attempt_id, kind, lag(kind) OVER (PARTITION BY job_id ORDER BY id) AS before
    FROM export_attempt_events
    WHERE kind <> 'DeliveryEvidence')
SELECT job_id, 'attempt ' || attempt_id || ' was claimed right after ' || before
FROM chain
WHERE kind = 'Claimed' AND before <> 'RequeuedByRecovery';
