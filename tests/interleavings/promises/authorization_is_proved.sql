-- Promise: I2
-- Broken: the expected file and its event do not stand together, or not once.
SELECT j.id, 'authorized ' || coalesce(j.delivery_authorized_at::text, 'never') || ', recorded ' || count(c.id)
FROM export_jobs j LEFT JOIN chain c ON c.job_id = j.id AND c.kind = 'DeliveryAuthorized'
GROUP BY j.id
HAVING count(c.id) <> (j.delivery_authorized_at IS NOT NULL)::int
    OR max(c.recorded_at) <> j.delivery_authorized_at OR max(c.detail) <> j.expected_file_name
