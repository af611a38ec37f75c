-- Promise: I5
-- Broken: more attempts were claimed at a destination than it has slots.
SELECT j.destination_id, count(*) || ' under way'
FROM export_jobs j
WHERE j.status IN ('Running', 'Delivering')
  AND j.destination_id IN (
      SELECT t.destination_id FROM told t WHERE t.program = 'claim a slot' AND t.statement = 'claim' AND t.applied)
GROUP BY j.destination_id
HAVING count(*) > 1
