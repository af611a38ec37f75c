-- Moves: nothing; the next version of a destination's contract, in force for nobody until it is confirmed.
-- Guard: built upon the latest version there is; its credential, where it names one, is this destination's.
-- Locks: none; the destination's row is held by whoever runs it.
-- Role: exports_api
-- Returns: one row: the new version; no row when another was written since, or the credential is not its own.
INSERT INTO destination_contracts (id, destination_id, version, terms, reason, created_by, created_at)
SELECT %(contract_id)s::uuid, d.id, %(expected_version)s::int + 1, %(terms)s::jsonb, %(reason)s::text,
       %(created_by)s::text, clock_timestamp()
FROM destinations d
WHERE d.id = %(destination_id)s::uuid
  AND %(expected_version)s::int = coalesce(
      (SELECT max(c.version) FROM destination_contracts c WHERE c.destination_id = d.id), 0)
  AND (coalesce(%(terms)s::jsonb #>> '{auth,secret_id}', '') = '' OR EXISTS (
      SELECT FROM destination_secrets s
      WHERE s.destination_id = d.id AND s.id::text = %(terms)s::jsonb #>> '{auth,secret_id}'))
ON CONFLICT (id) DO NOTHING
RETURNING version;
