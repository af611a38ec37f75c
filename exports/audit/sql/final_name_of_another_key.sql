-- Promise: I8
-- Violation: the final name is not a function of the export's own delivery key.
SELECT id, 'has key ' || delivery_key || ' and final name ' || quote_literal(expected_file_name)
FROM export_jobs
WHERE expected_file_name IS NOT NULL AND position(delivery_key IN expected_file_name) = 0;
