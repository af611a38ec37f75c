-- Promise: I10
-- Broken: two events follow each other that no allowed transition leads between.
SELECT c.job_id, c.kind || ' after ' || coalesce(c.before_kind, 'nothing')
FROM chain c
WHERE NOT coalesce(CASE
    WHEN c.kind = 'Claimed' THEN c.before_kind IS NULL OR c.before_kind = 'RequeuedByRecovery'
    WHEN c.before_attempt <> c.attempt_id THEN false
    WHEN c.kind IN ('DeliveryAuthorized', 'Stopped', 'Failed', 'RequeuedByRecovery', 'StoppedByRecovery',
                    'AttemptsExhausted') THEN c.before_kind = 'Claimed'
    WHEN c.kind = 'Finished' THEN c.before_kind = 'DeliveryAuthorized'
                                  AND c.leads_to IN ('Completed', 'Failed', 'OutcomeUnknown')
    WHEN c.kind = 'ResolvedByRecovery' THEN c.before_kind = 'DeliveryAuthorized'
                                            AND c.leads_to IN ('Completed', 'OutcomeUnknown')
    WHEN c.kind = 'Reconciled' THEN c.before_leads_to = 'OutcomeUnknown' AND c.leads_to IN ('Completed', 'Failed')
    WHEN c.kind = 'Corrected' THEN c.leads_from = c.before_leads_to AND c.leads_from <> c.leads_to
                                   AND c.leads_from IN ('Completed', 'Failed') AND c.leads_to IN ('Completed', 'Failed')
END, false)
