-- Promise: I6
-- Violation: the acknowledgment rule settled what its contract does not let it settle, or without evidence.
SELECT e.job_id, 'attempt ' || e.attempt_id || ' was settled by the rule: ' || coalesce(left(e.detail, 80), 'without words')
FROM export_attempt_events e
WHERE e.kind = 'Reconciled' AND e.observed_by = 'rule:acknowledgment'
  AND NOT (
      coalesce(starts_with(e.detail, 'Completed: '), false)
      AND EXISTS (
          SELECT FROM export_attempt_events s
          WHERE s.job_id = e.job_id AND s.attempt_id = e.attempt_id AND s.kind = 'DeliveryEvidence' AND s.id < e.id)
      AND EXISTS (
          SELECT FROM export_attempt_events c JOIN destination_contracts k ON k.id::text = c.detail
          WHERE c.job_id = e.job_id AND c.attempt_id = e.attempt_id AND c.kind = 'Claimed'
            AND k.terms #>> '{verification,acknowledgment,completes_automatically}' = 'true'));
