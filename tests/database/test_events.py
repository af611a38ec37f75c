"""Who may record which kind of event, and what counts as proof of a move (I2, I7)."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest

from exports.states import EVENT_WRITERS, EventKind, Role, Status
from tests.database.guarded import (
    CHECK_VIOLATED,
    DENIED,
    KIND,
    OK,
    PEOPLE_AND_STRANGERS,
    PROOF,
    event_of,
    update_of,
)
from tests.database.starting import Row, ago, job
from tests.database.test_transitions import carried

if TYPE_CHECKING:
    from tests.database.guarded import Sandbox, Step


@pytest.mark.parametrize("role", PEOPLE_AND_STRANGERS)
def test_a_login_records_exactly_the_kinds_stated_for_it(sandbox: Sandbox, role: str) -> None:
    sandbox.let_all_write()
    row = job(Status.OUTCOME_UNKNOWN)
    sandbox.seed(row)
    another = row | {"attempt_id": uuid.uuid4()}
    answers = {kind: sandbox.attempt(role, event_of(another, kind)) for kind in EventKind}
    assert answers == {kind: OK if role in EVENT_WRITERS[kind] else KIND for kind in EventKind}


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.OWNER])
def test_without_added_rights_the_same_holds_or_the_grant_refuses_first(sandbox: Sandbox, role: Role) -> None:
    row = job(Status.OUTCOME_UNKNOWN)
    sandbox.seed(row)
    another = row | {"attempt_id": uuid.uuid4()}
    writers = {Role.WORKER, Role.ACKNOWLEDGER, Role.RECONCILER}
    answers = {kind: sandbox.attempt(role, event_of(another, kind)) for kind in EventKind}
    refused = KIND if role in writers else DENIED
    assert answers == {kind: OK if role in EVENT_WRITERS[kind] else refused for kind in EventKind}


def test_a_kind_that_does_not_exist_is_refused_by_its_check(sandbox: Sandbox) -> None:
    row = job(Status.RUNNING)
    sandbox.seed(row)
    assert sandbox.attempt(Role.WORKER, event_of(row, "Invented")) == CHECK_VIOLATED


def _request(row: Row, request_id: uuid.UUID, outcome: str) -> tuple[str, list[Any]]:
    statement = (
        "INSERT INTO cancellation_requests (tenant_id, id, job_id, requested_by, outcome, found_status,"
        " found_attempt_count) VALUES (%s, %s, %s, 'user:ann', %s, 'Queued', 0)"
    )
    return statement, [row["tenant_id"], request_id, row["id"], outcome]


CANCELLATIONS = [
    (Status.QUEUED, "CanceledWhileQueued", "cancellation_request_id"),
    (Status.RUNNING, "StopRequested", "stop_request_id"),
]


@pytest.mark.parametrize(("status", "outcome", "column"), CANCELLATIONS)
def test_a_request_named_on_the_row_is_recorded_with_it(
    sandbox: Sandbox, status: Status, outcome: str, column: str
) -> None:
    row, another, request_id = job(status), job(status), uuid.uuid4()
    sandbox.seed(row, another)
    changes = carried(Status.QUEUED, Status.CANCELED) if status is Status.QUEUED else {}
    changes |= {column: request_id}
    recorded = {
        "nothing": [],
        "another outcome": [_request(row, request_id, "TooLate")],
        "another id": [_request(row, uuid.uuid4(), outcome)],
        "another job": [_request(another, request_id, outcome)],
        "the request": [_request(row, request_id, outcome)],
    }
    answers = {what: sandbox.update(Role.API, row, changes, extra, proven=True) for what, extra in recorded.items()}
    assert answers == {what: OK if what == "the request" else PROOF for what in recorded}


def test_a_rejection_is_recorded_with_its_reasons_for_the_version(sandbox: Sandbox) -> None:
    row = job(Status.QUEUED, version=3)
    sandbox.seed(row)
    reasons = "INSERT INTO export_rejections (job_id, version, reasons) VALUES (%s, %s, '[]')"
    changes = {"status": Status.REJECTED}
    assert sandbox.update(Role.WORKER, row, changes, proven=True) == PROOF
    assert sandbox.update(Role.WORKER, row, changes, [(reasons, [row["id"], 2])], proven=True) == PROOF
    assert sandbox.update(Role.WORKER, row, changes, [(reasons, [row["id"], 3])], proven=True) == OK


def _wake_up(row: Row) -> tuple[str, list[Any]]:
    statement = "INSERT INTO outbox (message_id, kind, job_id, created_at) VALUES (%s, 'ExportReady', %s, now())"
    return statement, [uuid.uuid4(), row["id"]]


def test_an_edit_of_the_terms_brings_its_record_and_a_wake_up(sandbox: Sandbox) -> None:
    row = job(Status.QUEUED)
    sandbox.seed(row)
    changes = {"version": 2, "destination_id": uuid.uuid4(), "woken_at": ago()}
    columns = "job_id, from_destination_id, to_destination_id, version, changed_by"
    insert = f"INSERT INTO terms_changes ({columns}) VALUES (%s, %s, %s, 2, 'user:ann')"
    change = (insert, [row["id"], row["destination_id"], changes["destination_id"]])
    assert sandbox.update(Role.API, row, changes, [change], proven=True) == PROOF
    assert sandbox.update(Role.API, row, changes, [_wake_up(row)], proven=True) == PROOF
    assert sandbox.update(Role.API, row, changes, [change, _wake_up(row)], proven=True) == OK


def test_the_sweeper_brings_a_wake_up_of_this_export(sandbox: Sandbox) -> None:
    row, another = job(Status.QUEUED), job(Status.QUEUED)
    sandbox.seed(row, another)
    changes = {"woken_at": ago(), "sweep_count": 1}
    assert sandbox.update(Role.WORKER, row, changes, [_wake_up(another)], proven=True) == PROOF
    assert sandbox.update(Role.WORKER, row, changes, [_wake_up(row)], proven=True) == OK


def test_an_event_of_another_attempt_or_job_proves_nothing(sandbox: Sandbox) -> None:
    row, another = job(Status.DELIVERING), job(Status.DELIVERING)
    sandbox.seed(row, another)
    changes = carried(Status.DELIVERING, Status.COMPLETED)
    for elsewhere in (row | {"attempt_id": uuid.uuid4()}, another):
        finished = event_of(elsewhere, "Finished")
        assert sandbox.update(Role.WORKER, row, changes, [finished], proven=True) == PROOF


def test_a_savepoint_may_hold_the_proof(sandbox: Sandbox) -> None:
    row = job(Status.DELIVERING)
    sandbox.seed(row)
    steps: list[Step] = [
        update_of(row, carried(Status.DELIVERING, Status.COMPLETED)),
        "SAVEPOINT inner_one",
        event_of(row, "Finished"),
        "RELEASE SAVEPOINT inner_one",
    ]
    assert sandbox.attempt(Role.WORKER, *steps, proven=True) == OK
    steps[-1] = "ROLLBACK TO SAVEPOINT inner_one"
    assert sandbox.attempt(Role.WORKER, *steps, proven=True) == PROOF
