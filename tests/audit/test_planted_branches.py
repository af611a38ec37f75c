"""A rule that asks several things at once finds each of them alone: no part of a question is dead.

Written by the owner, past every grant and trigger, into one healthy export; only the rule's own question is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connections

from exports.audit import RULES, audit
from tests.audit import healthy
from tests.recovery.lives import ALIASES, Place, a_place, delivering, queued, running

if TYPE_CHECKING:
    from collections.abc import Callable

    from exports.models import ExportJob

    History = Callable[[Place], ExportJob]

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)

SOMEBODY = "gen_random_uuid()"
AUTHORIZED = (
    "expected_file_name = delivery_key, expected_file_bytes = 1, expected_file_sha256 = 'x',"
    " delivery_authorized_at = clock_timestamp()"
)


def row(changes: str) -> str:
    return f"UPDATE export_jobs SET {changes} WHERE id = %(job)s"


def status(name: str, reason: str = "NULL") -> str:
    return row(f"status = '{name}', failure_reason = {reason}")


def event(kind: str, attempt: str = "%(attempt)s") -> str:
    return (
        "INSERT INTO export_attempt_events (job_id, attempt_id, kind, recorded_at)"
        f" VALUES (%(job)s, {attempt}, '{kind}', clock_timestamp())"
    )


def click(outcome: str, changes: str) -> str:
    return f"UPDATE cancellation_requests SET {changes} WHERE job_id = %(job)s AND outcome = '{outcome}'"


def only_click(outcome: str, changes: str) -> str:
    """Leave one click on record, and change the row."""
    others = f"DELETE FROM cancellation_requests WHERE job_id = %(job)s AND outcome <> '{outcome}'"
    return f"WITH others AS ({others}) {row(changes)}"


THE_SECOND = "(SELECT id FROM cancellation_requests WHERE job_id = %(job)s AND outcome = 'StopAlreadyRequested')"

PLANTED: dict[str, list[tuple[History, str]]] = {
    "row_not_allowed": [
        (queued, row("version = 0")),
        (queued, row("attempt_count = -1")),
        (queued, row("sweep_count = -1")),
        (queued, row(f"attempt_id = {SOMEBODY}")),
        (queued, row(f"stop_request_id = {SOMEBODY}")),
        (queued, row(AUTHORIZED)),
        (queued, row(f"cancellation_request_id = {SOMEBODY}")),
        (healthy.cancelled, row("cancellation_request_id = NULL")),
        (healthy.completed, row("expected_file_bytes = NULL")),
        (healthy.stopped, row("stop_request_id = NULL")),
        (healthy.stopped, row("attempt_id = NULL")),
        (healthy.stopped, row(AUTHORIZED)),
        (running, row("attempt_id = NULL")),
        (running, row(AUTHORIZED)),
        (healthy.build_failed, row("attempt_id = NULL")),
        (delivering, row("attempt_id = NULL")),
        (healthy.completed, row(f"stop_request_id = {SOMEBODY}")),
    ],
    "told_otherwise": [
        (healthy.stop_requested, row(f"stop_request_id = {SOMEBODY}")),
        (healthy.stop_requested, only_click("StopAlreadyRequested", f"stop_request_id = {THE_SECOND}")),
        (healthy.stop_requested, only_click("StopAlreadyRequested", "stop_request_id = NULL")),
        (healthy.cancelled, row(f"cancellation_request_id = {SOMEBODY}")),
        (healthy.cancelled, only_click("AlreadyCanceled", "status = 'Queued'")),
        (healthy.stopped, only_click("AlreadyEnded", "status = 'Completed'")),
        (healthy.completed, row("delivery_authorized_at = NULL")),
        (healthy.completed, row("attempt_count = 0")),
    ],
    "failure_not_proved": [
        (healthy.build_failed, row("failure_reason = 'AttemptsExhausted'")),
        (healthy.build_failed, row("failure_reason = 'OriginalDelivered'")),
        (healthy.build_failed, row("delivery_authorized_at = clock_timestamp()")),
        (healthy.exhausted, row("failure_reason = 'BuildFailed'")),
        (healthy.exhausted, row("failure_reason = 'FinalNameOccupied'")),
        (healthy.exhausted, row("delivery_authorized_at = clock_timestamp()")),
        (healthy.reconciled, row("delivery_authorized_at = NULL")),
    ],
    "impossible_history": [
        (running, event("Finished")),
        (running, event("ResolvedByRecovery")),
        (running, event("Corrected")),
        (running, event("DeliveryAuthorized", SOMEBODY)),
        (queued, event("Stopped", SOMEBODY)),
        (healthy.completed, event("Stopped")),
    ],
    "row_disagrees_with_history": [
        (queued, status("Running")),
        (running, status("Queued")),
        (delivering, status("Completed")),
        (healthy.stopped, status("Running")),
        (healthy.stopped_by_recovery, status("Running")),
        (healthy.build_failed, status("Stopped")),
        (healthy.exhausted, status("Stopped")),
        (healthy.completed, status("Delivering")),
        (healthy.unknown_by_recovery, status("Completed")),
        (healthy.reconciled, status("Completed")),
        (healthy.corrected_twice_over, status("Failed", "'NotDelivered'")),
        (healthy.corrected_to_failed, status("Completed")),
    ],
    "owned_without_lease": [
        (queued, row("lease_expires_at = clock_timestamp()")),
        (healthy.completed, row("lease_expires_at = clock_timestamp()")),
        (running, row("claimed_by = NULL")),
        (running, row("attempt_id = NULL")),
        (delivering, row("lease_expires_at = NULL")),
    ],
    "acted_after_takeover": [
        (healthy.stopped_by_recovery, event("DeliveryAuthorized")),
        (healthy.exhausted, event("DeliveryAuthorized")),
        (healthy.unknown_by_recovery, event("Finished")),
    ],
    "outcome_not_of_what_was_found": [
        (healthy.stop_requested, click("StopRequested", "found_status = 'Queued'")),
        (healthy.stop_requested, click("StopAlreadyRequested", "found_status = 'Queued'")),
        (healthy.cancelled, click("AlreadyCanceled", "found_status = 'Queued'")),
        (healthy.cancelled, click("CanceledWhileQueued", f"found_attempt_id = {SOMEBODY}")),
        (healthy.cancelled, click("CanceledWhileQueued", "outcome = 'Gone'")),
        (healthy.stopped, click("AlreadyEnded", "found_status = 'Running'")),
        (healthy.completed, click("TooLate", "found_status = 'Queued'")),
        (healthy.completed, click("TooLate", "found_delivery_authorized_at = NULL")),
    ],
    "stopped_without_request": [
        (healthy.cancelled, row(f"cancellation_request_id = {SOMEBODY}")),
        (healthy.stop_requested, row(f"stop_request_id = {THE_SECOND}")),
    ],
    "authorization_without_proof": [
        (delivering, row("delivery_authorized_at = delivery_authorized_at + interval '1 ms'")),
        (delivering, "DELETE FROM export_attempt_events WHERE job_id = %(job)s AND kind = 'DeliveryAuthorized'"),
        (running, event("DeliveryAuthorized")),
    ],
    "queued_without_wake_up": [(queued, row("woken_at = woken_at + interval '1 ms'"))],
}
"""Rule name to healthy histories, and what the owner then does to each."""

CASES = [(rule, history, plant) for rule, plants in PLANTED.items() for history, plant in plants]


@pytest.mark.parametrize(
    ("rule", "history", "plant"), CASES, ids=lambda part: getattr(part, "__name__", str(part))[:80]
)
def test_each_part_of_a_rule_finds_its_own_violation(rule: str, history: History, plant: str) -> None:
    place = a_place()
    queued(place)  # a healthy neighbour, which is never named
    job = history(place)
    (asked,) = [each for each in RULES if each.name == rule]
    assert list(audit("auditor", [asked])) == []

    with connections["default"].cursor() as cursor:
        cursor.execute(plant, {"job": job.id, "attempt": job.attempt_id})
        assert cursor.rowcount >= 1

    assert {finding.subject for finding in audit("auditor", [asked])} == {str(job.id)}
