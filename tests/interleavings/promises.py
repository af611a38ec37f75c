"""The promises as questions to the rows: what a schedule left, and what its sessions were told, must answer none.

They know nothing of the rules and of the statements: a statement that does what the rules expect and still breaks
a promise is found here, and so is one whose guard was weakened.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.interleavings.world import MAX_ATTEMPTS

_HEADER = re.compile(r"-- Promise: (I\d+)\n-- Broken: (.+)\n")

_HISTORY = """
moments AS MATERIALIZED (
    SELECT e.*,
           CASE kind WHEN 'Corrected' THEN split_part(split_part(detail, ':', 1), ' to ', 1) END AS leads_from,
           CASE WHEN kind IN ('Finished', 'ResolvedByRecovery', 'Reconciled') THEN split_part(detail, ':', 1)
                WHEN kind = 'Corrected' THEN split_part(split_part(detail, ':', 1), ' to ', 2) END AS leads_to
    FROM export_attempt_events e),
chain AS MATERIALIZED (
    SELECT m.*, lag(kind) OVER job AS before_kind, lag(attempt_id) OVER job AS before_attempt,
           lag(leads_to) OVER job AS before_leads_to
    FROM moments m WHERE kind <> 'DeliveryEvidence'
    WINDOW job AS (PARTITION BY job_id ORDER BY id)),
fresh AS MATERIALIZED (SELECT m.* FROM moments m, interleavings.mark WHERE m.id > mark.last_event)
"""
"""The history without evidence, each event with the one before; and what is new since the schedule began."""

_TOLD = """
told AS MATERIALIZED (
    SELECT n, t ->> 'session' AS session, t ->> 'program' AS program, t ->> 'statement' AS statement,
           t ->> 'answer' AS answer,
           (t -> 'applied')::boolean AS applied, (t -> 'ours')::boolean AS ours, t -> 'handled' AS handled,
           t ->> 'returned' AS returned, (t ->> 'job_id')::uuid AS job_id, (t ->> 'new_id')::uuid AS new_id,
           (t ->> 'attempt_id')::uuid AS attempt_id, (t -> 'version')::int AS version,
           (t ->> 'destination_id')::uuid AS destination_id, t ->> 'recorded' AS recorded,
           (t -> 'judged')::int AS judged, (t -> 'started_after')::int AS started_after,
           (t -> 'has_lapsed')::boolean AS has_lapsed, (t -> 'allowed')::boolean AS allowed
    FROM jsonb_array_elements($1) WITH ORDINALITY AS each (t, n))
"""

_FACTS = """
SELECT jsonb_agg(jsonb_build_object(
    'id', id, 'status', status, 'attempt', attempt_id, 'claims', attempt_count, 'stop', stop_request_id IS NOT NULL,
    'lease', CASE WHEN lease_expires_at IS NULL THEN 'NONE' WHEN lease_expires_at = 'epoch' THEN 'GIVEN_BACK'
                  WHEN lease_expires_at < clock_timestamp() THEN 'LAPSED' ELSE 'CURRENT' END,
    'version', version, 'destination', destination_id, 'reason', failure_reason,
    'authorized', delivery_authorized_at IS NOT NULL, 'sweeps', sweep_count, 'original', replaces_job_id))
FROM export_jobs
"""


def _load(path: Path) -> tuple[str, str]:
    text = path.read_text(encoding="utf-8")
    header = _HEADER.match(text)
    assert header, f"{path.name}: the header must say which promise, and what it is to break it"
    name = f"{header[1]} {path.stem}"
    body = text[header.end() :].replace(":cap", str(MAX_ATTEMPTS))
    return name, f"SELECT '{name}: ' || subject || ' ' || words FROM ({body}) AS {path.stem} (subject, words)"


PROMISES = dict(sorted(_load(path) for path in (Path(__file__).parent / "promises").glob("*.sql")))
"""Every question, by promise and name."""

PREPARE = f"""
SET plan_cache_mode = force_generic_plan; SET enable_hashjoin = off; SET enable_mergejoin = off;
PREPARE judge (jsonb) AS
WITH {_TOLD}, {_HISTORY}
SELECT ({_FACTS}), (SELECT jsonb_agg(words) FROM ({" UNION ALL ".join(PROMISES.values())}) AS broken (words))
"""
QUESTION = "EXECUTE judge (%(told)s)"
"""What the rows are, and which promises they break, given what the sessions of a schedule were told."""
