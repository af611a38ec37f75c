-- Promise: I1
-- Broken: an edit of the terms moved a replacement, or led to a destination of others or one that is disabled.
SELECT t.job_id, 'moved to ' || d.name || CASE WHEN j.replaces_job_id IS NULL THEN '' ELSE ', a replacement' END
FROM terms_changes t JOIN export_jobs j ON j.id = t.job_id JOIN destinations d ON d.id = t.to_destination_id
WHERE d.tenant_id <> j.tenant_id OR NOT d.is_enabled OR j.replaces_job_id IS NOT NULL
