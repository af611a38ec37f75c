"""Each rule finds its planted violation by name: written by the owner, past every grant and trigger."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
import pytest
from django.db import connections

from exports.audit import RULES, audit
from tests.audit import healthy
from tests.recovery.lives import ALIASES, Place, a_place, delivering, queued, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from exports.models import ExportJob

    History = Callable[[Place], ExportJob]

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)

EVENT = "INSERT INTO export_attempt_events (job_id, attempt_id, kind, detail, recorded_at)"

PLANTED: dict[str, tuple[History, str]] = {
    "claimed_while_owned": (
        running,
        f"{EVENT} VALUES (%(job)s, gen_random_uuid(), 'Claimed', NULL, clock_timestamp())",
    ),
    "ended_twice": (
        healthy.completed,
        f"{EVENT} VALUES (%(job)s, %(attempt)s, 'Stopped', NULL, clock_timestamp())",
    ),
    "claimed_in_another_version": (running, "UPDATE export_jobs SET version = 2 WHERE id = %(job)s"),
    "row_disagrees_with_history": (
        healthy.requeued,
        "UPDATE export_jobs SET status = 'Failed', failure_reason = 'AttemptsExhausted' WHERE id = %(job)s",
    ),
    "attempts_miscounted": (running, "UPDATE export_jobs SET attempt_count = 7 WHERE id = %(job)s"),
    "attempt_never_claimed": (
        running,
        "UPDATE export_jobs SET attempt_id = gen_random_uuid() WHERE id = %(job)s",
    ),
    "authorization_without_proof": (
        delivering,
        "UPDATE export_jobs SET expected_file_name = expected_file_name || '.zip' WHERE id = %(job)s",
    ),
    "rejected_without_reasons": (queued, "UPDATE export_jobs SET status = 'Rejected' WHERE id = %(job)s"),
    "terms_without_record": (queued, "UPDATE export_jobs SET version = 2 WHERE id = %(job)s"),
    "born_without_request": (queued, "DELETE FROM creation_requests WHERE job_id = %(job)s"),
    "owned_without_lease": (running, "UPDATE export_jobs SET lease_expires_at = NULL WHERE id = %(job)s"),
    "acted_after_takeover": (
        healthy.requeued,
        f"""{EVENT} SELECT job_id, attempt_id, 'DeliveryAuthorized', 'late', clock_timestamp()
            FROM export_attempt_events WHERE job_id = %(job)s AND kind = 'RequeuedByRecovery' LIMIT 1""",
    ),
    "authorized_after_stop": (
        delivering,
        "UPDATE export_jobs SET stop_request_id = gen_random_uuid() WHERE id = %(job)s",
    ),
    "replacement_authorized_after_original": (
        healthy.delivering_replacement,
        f"""{EVENT} SELECT o.id, o.attempt_id, 'Corrected', 'Failed to Completed: x; y',
                           r.delivery_authorized_at - interval '1 ms'
            FROM export_jobs r JOIN export_jobs o ON o.id = r.replaces_job_id WHERE r.id = %(job)s""",
    ),
    "queued_without_wake_up": (queued, "DELETE FROM outbox WHERE job_id = %(job)s"),
    "concluded_without_evidence": (
        healthy.completed,
        "DELETE FROM export_attempt_events WHERE job_id = %(job)s AND kind = 'DeliveryEvidence'",
    ),
    "settled_past_its_contract": (
        healthy.reconciled,
        """UPDATE export_attempt_events SET observed_by = 'rule:acknowledgment'
           WHERE job_id = %(job)s AND kind = 'Reconciled'""",
    ),
    "event_of_no_attempt": (
        running,
        f"{EVENT} VALUES (%(job)s, gen_random_uuid(), 'DeliveryEvidence', NULL, clock_timestamp())",
    ),
    "failure_not_proved": (
        healthy.build_failed,
        "UPDATE export_jobs SET failure_reason = 'NotDelivered' WHERE id = %(job)s",
    ),
    "delivered_twice": (
        healthy.replaced,
        """UPDATE export_jobs SET status = 'Completed', failure_reason = NULL
           WHERE id = (SELECT replaces_job_id FROM export_jobs WHERE id = %(job)s)""",
    ),
    "authorized_twice": (
        delivering,
        f"{EVENT} VALUES (%(job)s, gen_random_uuid(), 'DeliveryAuthorized', NULL, clock_timestamp())",
    ),
    "key_minted_twice": (
        queued,
        """UPDATE deliveries d SET original_job_id = other.id FROM export_jobs other, export_jobs j
           WHERE j.id = %(job)s AND d.delivery_key = j.delivery_key AND other.tenant_id = j.tenant_id
             AND other.id <> j.id""",
    ),
    "final_name_of_another_key": (
        delivering,
        "UPDATE export_jobs SET expected_file_name = 'contacts-other.csv' WHERE id = %(job)s",
    ),
    "outcome_not_of_what_was_found": (
        healthy.cancelled,
        "UPDATE cancellation_requests SET found_status = 'Delivering' WHERE job_id = %(job)s",
    ),
    "told_otherwise": (
        healthy.cancelled,
        "UPDATE export_jobs SET status = 'Queued', cancellation_request_id = NULL WHERE id = %(job)s",
    ),
    "stopped_without_request": (
        running,
        "UPDATE export_jobs SET stop_request_id = gen_random_uuid() WHERE id = %(job)s",
    ),
    "row_not_allowed": (queued, "UPDATE export_jobs SET claimed_by = 'nobody' WHERE id = %(job)s"),
    "impossible_history": (
        running,
        f"{EVENT} VALUES (%(job)s, %(attempt)s, 'Reconciled', 'Completed: x', clock_timestamp())",
    ),
}
"""Rule name to a healthy history and what the owner then does to it."""

PLANTED_IN_THE_CATALOGUE: dict[str, tuple[str, str]] = {
    "history_can_be_changed": (
        "GRANT UPDATE (detail) ON export_attempt_events TO exports_worker",
        "REVOKE UPDATE (detail) ON export_attempt_events FROM exports_worker",
    ),
    "wake_ups_can_be_changed": (
        "GRANT DELETE ON outbox TO exports_dispatcher",
        "REVOKE DELETE ON outbox FROM exports_dispatcher",
    ),
    "process_owns_schema": (
        "GRANT exports_owner TO exports_worker",
        "REVOKE exports_owner FROM exports_worker",
    ),
    "guard_off": (
        "ALTER TABLE export_jobs DISABLE TRIGGER tg_export_jobs_move",
        "ALTER TABLE export_jobs ENABLE TRIGGER tg_export_jobs_move",
    ),
}
"""Rule name to what an administrator does to the schema, and how it is undone."""


def names_and_subjects() -> set[tuple[str, str]]:
    return {(finding.rule.name, finding.subject) for finding in audit("auditor") if finding.rule.is_violation}


def test_every_rule_has_its_planted_violation() -> None:
    assert PLANTED.keys() | PLANTED_IN_THE_CATALOGUE.keys() == {rule.name for rule in RULES if rule.is_violation}


@pytest.mark.parametrize("rule", PLANTED)
def test_the_rule_finds_its_violation_by_name_and_by_export(rule: str) -> None:
    history, plant = PLANTED[rule]
    place = a_place()
    queued(place)  # a healthy neighbour, which is never named
    job = history(place)
    assert names_and_subjects() == set()

    with connections["default"].cursor() as cursor:
        cursor.execute(plant, {"job": job.id, "attempt": job.attempt_id})
        assert cursor.rowcount >= 1

    found = names_and_subjects()
    subjects = {str(job.id), str(job.replaces_job_id)}
    assert rule in {name for name, _ in found}
    assert {subject for name, subject in found if name == rule} <= subjects


@contextmanager
def administered(admin_url: str, plant: str, undo: str) -> Iterator[None]:
    """Do something to the test database's schema as its administrator, and undo it."""
    database = connections["default"].settings_dict["NAME"]
    with psycopg.connect(admin_url, dbname=database, autocommit=True) as admin:
        admin.execute(plant.encode())
        try:
            yield
        finally:
            admin.execute(undo.encode())


@pytest.mark.parametrize("rule", PLANTED_IN_THE_CATALOGUE)
def test_the_rule_finds_what_was_done_to_the_schema(rule: str, admin_url: str) -> None:
    plant, undo = PLANTED_IN_THE_CATALOGUE[rule]
    assert names_and_subjects() == set()

    with administered(admin_url, plant, undo):
        assert {name for name, _ in names_and_subjects()} == {rule}

    assert names_and_subjects() == set()
