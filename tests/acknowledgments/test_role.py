"""The acknowledger's login appends evidence and completes unknown outcomes, and can do nothing else (I7, I10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from exports.grants import GRANTS
from exports.sql import STATEMENTS
from exports.states import EventKind, Role, Status
from tests.acknowledgments.waiting import completed, unknown
from tests.recovery import lives
from tests.recovery.lives import ALIASES
from tests.recovery.sessions import session

if TYPE_CHECKING:
    from collections.abc import Callable

    from exports.models import ExportJob
    from tests.acknowledgments.waiting import At
    from tests.recovery.lives import Place

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)

REFUSED = r"permission denied|may not|may change"
MINE = {"append_evidence", "collect_acknowledgment", "complete_acknowledged"}
STATES: dict[str, Callable[[Place], ExportJob]] = {
    "queued": lives.queued,
    "running": lives.running,
    "delivering": lives.delivering,
    "completed": completed,
    "unknown": unknown,
}


def test_its_statements_are_these_and_each_needs_nothing_more_than_it_has() -> None:
    assert {name for name, each in STATEMENTS.items() if Role.ACKNOWLEDGER in each.roles} == MINE
    writable = {
        table
        for table, rights in GRANTS[Role.ACKNOWLEDGER].items()
        if rights.keys() - {"SELECT"} and table != "process_heartbeats"
    }
    assert writable == {"export_jobs", "export_attempt_events", "acknowledgments_seen"}


def refused(direct: psycopg.Connection[Any], statement: str, *values: object) -> None:
    with pytest.raises(psycopg.Error, match=REFUSED):
        direct.execute(statement.encode(), values)


@pytest.mark.parametrize("state", STATES)
def test_it_moves_an_unknown_outcome_to_completed_and_nothing_else_anywhere(at: At, state: str) -> None:
    job = STATES[state](at.place())
    with session("acknowledger") as direct:
        for status in Status:
            if (state, status) != ("unknown", Status.COMPLETED):
                refused(direct, "UPDATE export_jobs SET status = %s WHERE id = %s", status, job.id)
        refused(direct, "UPDATE export_jobs SET failure_reason = 'NotDelivered' WHERE id = %s", job.id)
        refused(direct, "UPDATE export_jobs SET lease_expires_at = NULL WHERE id = %s", job.id)
    assert lives.now(job.id).status == job.status


def test_a_completion_without_its_event_is_not_committed(at: At) -> None:
    job = unknown(at.place())
    with session("acknowledger") as direct, pytest.raises(psycopg.Error, match="without an event of kind Reconciled"):
        direct.execute("UPDATE export_jobs SET status = 'Completed' WHERE id = %s", [job.id])
    assert lives.now(job.id).status == Status.OUTCOME_UNKNOWN


def test_it_records_evidence_and_reconciliations_and_no_other_kind_of_event(at: At) -> None:
    job = unknown(at.place())
    insert = "INSERT INTO export_attempt_events (job_id, attempt_id, kind, recorded_at) VALUES (%s, %s, %s, now())"
    with session("acknowledger") as direct:
        for kind in set(EventKind) - {EventKind.DELIVERY_EVIDENCE, EventKind.RECONCILED}:
            refused(direct, insert, job.id, job.attempt_id, kind)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE acknowledgments_seen SET name = 'another'",
        "DELETE FROM acknowledgments_seen",
        "TRUNCATE acknowledgments_seen",
        "UPDATE export_attempt_events SET detail = ''",
        "DELETE FROM export_attempt_events",
        (
            "INSERT INTO outbox (message_id, kind, job_id, created_at)"
            " VALUES (gen_random_uuid(), 'ExportReady', gen_random_uuid(), now())"
        ),
        "SELECT * FROM contacts",
        "SELECT * FROM cancellation_requests",
        "SELECT * FROM auth_user",
    ],
)
def test_it_neither_changes_history_nor_wakes_nor_reads_contacts(statement: str) -> None:
    with session("acknowledger") as direct:
        refused(direct, statement)


def test_nobody_else_but_the_owner_writes_what_was_seen() -> None:
    writers = {role for role, tables in GRANTS.items() if tables.get("acknowledgments_seen", {}).keys() - {"SELECT"}}
    assert writers == {Role.ACKNOWLEDGER}
