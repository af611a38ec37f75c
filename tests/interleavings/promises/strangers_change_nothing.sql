-- Promise: I1
-- Broken: another tenant's person changed, held or found an export.
SELECT t.job_id, t.statement || ' answered ' || t.answer
FROM told t
WHERE NOT t.ours AND t.answer NOT IN ('Refused', 'Missing')
