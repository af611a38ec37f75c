-- Promise: I6
-- Broken: an event speaks of an attempt that its export never had, or evidence is not under the attempt it names.
SELECT e.job_id, e.kind || ' of attempt ' || e.attempt_id
FROM export_attempt_events e
WHERE NOT EXISTS (SELECT FROM chain c
                  WHERE c.job_id = e.job_id AND c.attempt_id = e.attempt_id AND c.kind = 'Claimed')
UNION ALL
SELECT t.job_id, 'evidence of attempt ' || t.attempt_id || ' is missing'
FROM told t
WHERE t.statement IN ('append_evidence', 'collect_acknowledgment') AND t.applied
  AND NOT EXISTS (SELECT FROM fresh f
                  WHERE f.job_id = t.job_id AND f.attempt_id = t.attempt_id AND f.kind = 'DeliveryEvidence')
