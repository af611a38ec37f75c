"""All 81 pairs of statuses, for every login, decided by the trigger alone: rights are given to everybody first."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest

from exports.states import TRANSITIONS, FailureReason, Role, Status
from tests.database.guarded import COLUMN, CONDITION, DENIED, MOVE, OK, PEOPLE_AND_STRANGERS, PROOF, event_of
from tests.database.starting import LAPSED, Row, ago, job

if TYPE_CHECKING:
    from tests.database.guarded import Sandbox

# What a legitimate move carries beside the status; read at the time of the test.
ENDS_LEASE = {"lease_expires_at": None}
FAILED = {"failure_reason": FailureReason.NOT_DELIVERED}

# An update of nothing is harmless where something may change, and refused where nothing may.
UNCHANGED: dict[tuple[Status, str], str] = {
    (Status.QUEUED, Role.WORKER): OK,
    (Status.RUNNING, Role.WORKER): OK,
    (Status.DELIVERING, Role.WORKER): OK,
    (Status.QUEUED, Role.API): CONDITION,
    (Status.RUNNING, Role.API): CONDITION,
}
PROVED_BY = {
    (Status.QUEUED, Status.RUNNING): ["Claimed"],
    (Status.RUNNING, Status.DELIVERING): ["DeliveryAuthorized"],
    (Status.RUNNING, Status.STOPPED): ["Stopped", "StoppedByRecovery"],
    (Status.RUNNING, Status.FAILED): ["Failed"],
    (Status.RUNNING, Status.QUEUED): ["RequeuedByRecovery"],
    (Status.DELIVERING, Status.COMPLETED): ["Finished", "ResolvedByRecovery"],
    (Status.DELIVERING, Status.FAILED): ["Finished"],
    (Status.DELIVERING, Status.OUTCOME_UNKNOWN): ["Finished", "ResolvedByRecovery"],
    (Status.OUTCOME_UNKNOWN, Status.COMPLETED): ["Reconciled"],
    (Status.OUTCOME_UNKNOWN, Status.FAILED): ["Reconciled"],
    (Status.COMPLETED, Status.FAILED): ["Corrected"],
    (Status.FAILED, Status.COMPLETED): ["Corrected"],
}
EVENT_MOVES = [(move, kind) for move, kinds in PROVED_BY.items() for kind in kinds]


def start(found: Status, wanted: Status) -> Row:
    """Return a row from which the move, where there is one, is allowed."""
    values: dict[str, Any] = {}
    if (found, wanted) == (Status.RUNNING, Status.QUEUED):
        values["lease_expires_at"] = ago() + LAPSED
    if (found, wanted) == (Status.RUNNING, Status.STOPPED):
        values["stop_request_id"] = uuid.uuid4()
    return job(found, **values)


def carried(found: Status, wanted: Status) -> dict[str, Any]:
    """Return the columns that a move changes with it."""
    changes: dict[str, Any] = {"status": wanted}
    match found, wanted:
        case Status.QUEUED, Status.RUNNING:
            changes |= {"attempt_id": uuid.uuid4(), "attempt_count": 1, "claimed_by": "worker-2"}
            changes |= {"lease_expires_at": ago(hours=-1)}
        case Status.QUEUED, Status.CANCELED:
            changes |= {"cancellation_request_id": uuid.uuid4()}
        case Status.RUNNING, Status.DELIVERING:
            changes |= {"expected_file_name": "f", "expected_file_bytes": 1, "expected_file_sha256": b"h"}
            changes |= {"delivery_authorized_at": ago(seconds=-1)}
        case Status.RUNNING, Status.QUEUED:
            changes |= {"attempt_id": None, "claimed_by": None, "woken_at": ago(), **ENDS_LEASE}
        case Status.RUNNING, Status.FAILED:
            changes |= {"failure_reason": FailureReason.BUILD_FAILED, **ENDS_LEASE}
        case ((Status.RUNNING | Status.DELIVERING), (Status.STOPPED | Status.COMPLETED | Status.OUTCOME_UNKNOWN)):
            changes |= ENDS_LEASE
        case Status.DELIVERING, Status.FAILED:
            changes |= FAILED | ENDS_LEASE
        case _, Status.FAILED:
            changes |= FAILED
        case Status.FAILED, _:
            changes |= {"failure_reason": None}
    return changes


def expected(role: str, found: Status, wanted: Status) -> str:
    if found == wanted:
        return UNCHANGED.get((found, role), COLUMN)
    return OK if role in TRANSITIONS.get((found, wanted), ()) else MOVE


@pytest.mark.parametrize("found", Status)
@pytest.mark.parametrize("role", PEOPLE_AND_STRANGERS)
def test_a_login_can_make_exactly_the_moves_stated_for_it(sandbox: Sandbox, role: str, found: Status) -> None:
    sandbox.let_all_write()
    answers = {}
    for wanted in Status:
        row = start(found, wanted)
        sandbox.seed(row)
        changes = {"status": wanted} if found == wanted else carried(found, wanted)
        answers[wanted] = sandbox.update(role, row, changes)
    assert answers == {wanted: expected(role, found, wanted) for wanted in Status}


WRITERS = {Role.API, Role.WORKER, Role.RECONCILER, Role.ACKNOWLEDGER}
"""The logins that may update the column status at all; the others are refused by the grant, not the trigger."""


@pytest.mark.parametrize("found", Status)
@pytest.mark.parametrize("role", [role for role in Role if role is not Role.OWNER])
def test_with_its_own_rights_a_login_is_refused_by_the_grant_or_the_trigger(
    sandbox: Sandbox, role: Role, found: Status
) -> None:
    row = job(found)
    sandbox.seed(row)
    forbidden = [wanted for wanted in Status if expected(role, found, wanted) == MOVE]
    answers = {wanted: sandbox.update(role, row, {"status": wanted}) for wanted in forbidden}
    assert answers == dict.fromkeys(forbidden, MOVE if role in WRITERS else DENIED)


@pytest.mark.parametrize("found", Status)
def test_the_owner_can_build_any_state_from_any_other(sandbox: Sandbox, found: Status) -> None:
    for wanted in Status:
        row = start(found, wanted)
        sandbox.seed(row)
        assert sandbox.update(Role.OWNER, row, carried(found, wanted), proven=True) == OK, wanted


@pytest.mark.parametrize(("move", "kind"), EVENT_MOVES)
def test_a_move_is_committed_only_with_the_event_that_proves_it(
    sandbox: Sandbox, move: tuple[Status, Status], kind: str
) -> None:
    row, changes = start(*move), carried(*move)
    sandbox.seed(row)
    role = next(iter(TRANSITIONS[move]))
    of_attempt = row | {"attempt_id": changes.get("attempt_id") or row["attempt_id"]}
    extra: list[Any] = [event_of(of_attempt, kind)]
    if move[1] == Status.QUEUED:
        extra.append(_wake_up(row))
    assert sandbox.update(role, row, changes, proven=True) == PROOF
    assert sandbox.update(role, row, changes, extra, proven=True) == OK


@pytest.mark.parametrize("move", PROVED_BY)
def test_an_event_of_another_kind_proves_nothing(sandbox: Sandbox, move: tuple[Status, Status]) -> None:
    row, changes = start(*move), carried(*move)
    sandbox.seed(row)
    sandbox.let_all_write()
    role = next(iter(TRANSITIONS[move]))
    of_attempt = row | {"attempt_id": changes.get("attempt_id") or row["attempt_id"]}
    extra = [event_of(of_attempt, "DeliveryEvidence"), _wake_up(row)]
    assert sandbox.update(role, row, changes, extra, proven=True) == PROOF


def _wake_up(row: Row) -> tuple[str, list[Any]]:
    statement = "INSERT INTO outbox (message_id, kind, job_id, created_at) VALUES (%s, 'ExportReady', %s, now())"
    return statement, [uuid.uuid4(), row["id"]]
