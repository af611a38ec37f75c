-- Promise: I1
-- Broken: a correction changed another record than the one looked at.
SELECT t.job_id, 'looked at ' || t.recorded || ', was ' || c.before_leads_to
FROM told t JOIN chain c ON c.job_id = t.job_id AND c.kind = 'Corrected'
WHERE t.statement = 'correct' AND t.applied AND c.before_leads_to <> t.recorded
