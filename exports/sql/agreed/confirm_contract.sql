-- Moves: nothing; the version that was looked at comes into force for every claim from now on, and for none before.
-- Guard: the latest version there is, undecided; by nobody who wrote it or one it builds upon, unless allowed.
-- Locks: the destination's row, which is held already by whoever runs it.
-- Role: exports_api
-- Returns: one row: whether one person both wrote and confirmed; no row when it is not the latest, or decided.
WITH asked AS (
    SELECT c.id, c.destination_id, c.version, c.created_by, d.active_contract_id,
           coalesce((SELECT max(b.version) FROM destination_contracts b
                     WHERE b.destination_id = c.destination_id AND (b.id = d.active_contract_id OR EXISTS (
                         SELECT FROM contract_decisions x WHERE x.contract_id = b.id))), 0) AS decided_version
    FROM destination_contracts c JOIN destinations d ON d.id = c.destination_id
    WHERE c.id = %(contract_id)s::uuid AND d.tenant_id = %(tenant_id)s::uuid),
judged AS (
    SELECT asked.*, EXISTS (
        SELECT FROM destination_contracts a
        WHERE a.destination_id = asked.destination_id AND a.created_by = %(decided_by)s::text
          AND a.version > asked.decided_version AND a.version <= asked.version) AS is_one_person
    FROM asked
    WHERE asked.version > asked.decided_version AND NOT EXISTS (
        SELECT FROM destination_contracts n
        WHERE n.destination_id = asked.destination_id AND n.version > asked.version)),
confirmed AS (
    INSERT INTO contract_decisions (contract_id, decision, proposed_by, decided_by, is_one_person, reason)
    SELECT id, 'Confirmed', created_by, %(decided_by)s::text, is_one_person, %(reason)s::text FROM judged
    WHERE %(allow_same_person)s::boolean OR NOT is_one_person
    ON CONFLICT (contract_id) DO NOTHING
    RETURNING contract_id, is_one_person),
waited AS (
    -- Nothing could start without a contract. Like any ended hold, this one has what waited woken within seconds.
    INSERT INTO holds (id, tenant_id, destination_id, cause, reason, created_by, created_at,
                       ended_at, ended_by, ended_reason)
    SELECT gen_random_uuid(), d.tenant_id, d.id, 'Paused', 'The destination had no confirmed contract.',
           %(decided_by)s::text, clock_timestamp(), clock_timestamp(), %(decided_by)s::text, %(reason)s::text
    FROM confirmed JOIN judged ON judged.id = confirmed.contract_id JOIN destinations d ON d.id = judged.destination_id
    WHERE judged.active_contract_id IS NULL)
UPDATE destinations d SET active_contract_id = confirmed.contract_id
FROM confirmed JOIN judged ON judged.id = confirmed.contract_id
WHERE d.id = judged.destination_id
RETURNING confirmed.is_one_person;
