"""Which column may change in which status, by whom, and with which move: every column tried everywhere."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest

from exports.models import ExportJob
from exports.states import TRANSITIONS, Role, Status
from tests.database.guarded import COLUMN, CONDITION, DENIED, OK, PEOPLE_AND_STRANGERS
from tests.database.starting import Row, ago, job, replacement
from tests.database.test_transitions import carried, start

if TYPE_CHECKING:
    from tests.database.guarded import Sandbox

OTHER_VALUE: Row = {
    "id": uuid.uuid4(),
    "tenant_id": uuid.uuid4(),
    "version": 7,
    "destination_id": uuid.uuid4(),
    "attempt_id": uuid.uuid4(),
    "attempt_count": 7,
    "claimed_by": "somebody",
    "lease_expires_at": ago(hours=-3),
    "stop_request_id": uuid.uuid4(),
    "cancellation_request_id": uuid.uuid4(),
    "expected_file_name": "another",
    "expected_file_bytes": 77,
    "expected_file_sha256": b"another",
    "delivery_authorized_at": ago(seconds=-2),
    "woken_at": ago(hours=-3),
    "failure_reason": "BuildFailed",
    "delivery_key": "another",
    "replaces_job_id": uuid.uuid4(),
    "created_by": "user:somebody",
    "replacement_reason": "another",
    "overwrite_agreement_ref": "another",
    "sweep_count": 7,
    "created_at": ago(hours=3),
}
IMMUTABLE = {
    "id",
    "tenant_id",
    "delivery_key",
    "replaces_job_id",
    "created_by",
    "replacement_reason",
    "overwrite_agreement_ref",
    "created_at",
}
"""Nobody but the owner holds the right to change these; the trigger refuses them all the same."""

# Who may change one column alone while the status stays; everything not here is refused.
ALONE: dict[tuple[Status, str, str], str] = {
    (Status.QUEUED, Role.WORKER, "woken_at"): OK,
    (Status.QUEUED, Role.WORKER, "sweep_count"): CONDITION,
    (Status.RUNNING, Role.WORKER, "lease_expires_at"): OK,
    (Status.RUNNING, Role.API, "stop_request_id"): OK,
    (Status.DELIVERING, Role.WORKER, "lease_expires_at"): OK,
}
MOVES = [move for move in TRANSITIONS if move[0] is not None]


def test_every_column_has_another_value_to_try() -> None:
    assert OTHER_VALUE.keys() | {"status"} == {field.column for field in ExportJob._meta.concrete_fields}


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("role", PEOPLE_AND_STRANGERS)
def test_while_the_status_stays_only_these_columns_change(sandbox: Sandbox, role: str, status: Status) -> None:
    sandbox.let_all_write()
    row = job(status)
    sandbox.seed(row)
    answers = {column: sandbox.update(role, row, {column: value}) for column, value in OTHER_VALUE.items()}
    other = CONDITION if role == Role.API and status in {Status.QUEUED, Status.RUNNING} else COLUMN
    assert answers == {column: ALONE.get((status, role, column), other) for column in OTHER_VALUE}


@pytest.mark.parametrize("move", MOVES)
def test_a_move_carries_its_own_columns_and_no_other(sandbox: Sandbox, move: tuple[Status, Status]) -> None:
    sandbox.let_all_write()
    role, row, changes = next(iter(TRANSITIONS[move])), start(*move), carried(*move)
    sandbox.seed(row)
    own = set(changes) | ({"failure_reason"} if Status.FAILED in move else set())
    if move[0] is Status.RUNNING and move[1] is Status.QUEUED:
        own -= {"woken_at"}
    others = {column: value for column, value in OTHER_VALUE.items() if column not in own}
    answers = {column: sandbox.update(role, row, changes | {column: value}) for column, value in others.items()}
    assert {column: answer for column, answer in answers.items() if answer not in {COLUMN, CONDITION}} == {
        column: OK for column in ("woken_at",) if move == (Status.RUNNING, Status.QUEUED)
    }


@pytest.mark.parametrize("column", sorted(IMMUTABLE))
@pytest.mark.parametrize("role", [role for role in Role if role is not Role.OWNER])
def test_no_login_has_the_right_to_change_what_an_export_is(sandbox: Sandbox, role: Role, column: str) -> None:
    row = job(Status.QUEUED)
    sandbox.seed(row)
    assert sandbox.update(role, row, {column: OTHER_VALUE[column]}) == DENIED


TERMS: list[tuple[str, dict[str, Any], str]] = [
    ("the version rises by one", {"version": 2}, OK),
    ("it may lead to the same destination", {"version": 2, "woken_at": ago()}, OK),
    ("a destination without a version", {"destination_id": uuid.uuid4()}, CONDITION),
    ("a version that jumps", {"destination_id": uuid.uuid4(), "version": 3}, CONDITION),
    ("a version that falls", {"destination_id": uuid.uuid4(), "version": 0}, CONDITION),
    ("a wake-up alone", {"woken_at": ago()}, CONDITION),
]


@pytest.mark.parametrize(("changes", "answer"), [case[1:] for case in TERMS], ids=[case[0] for case in TERMS])
def test_an_edit_of_the_terms_raises_the_version(sandbox: Sandbox, changes: Row, answer: str) -> None:
    row = job(Status.QUEUED)
    sandbox.seed(row)
    assert sandbox.update(Role.API, row, changes) == answer


def test_an_edit_of_the_terms_never_moves_a_replacement(sandbox: Sandbox) -> None:
    original = job(Status.OUTCOME_UNKNOWN)
    row = replacement(original, Status.QUEUED)
    sandbox.seed(original, row)
    assert sandbox.update(Role.API, row, {"destination_id": uuid.uuid4(), "version": 2}) == CONDITION


SWEEPS: list[tuple[str, dict[str, Any], str]] = [
    ("woken and counted", {"woken_at": ago(), "sweep_count": 3}, OK),
    ("woken alone", {"woken_at": ago()}, OK),
    ("woken earlier", {"woken_at": ago(hours=2)}, CONDITION),
    ("counted alone", {"sweep_count": 3}, CONDITION),
    ("counted twice", {"woken_at": ago(), "sweep_count": 4}, CONDITION),
    ("counted back", {"woken_at": ago(), "sweep_count": 1}, CONDITION),
]


@pytest.mark.parametrize(("changes", "answer"), [case[1:] for case in SWEEPS], ids=[case[0] for case in SWEEPS])
def test_the_sweeper_wakes_later_and_counts_one_by_one(sandbox: Sandbox, changes: Row, answer: str) -> None:
    row = job(Status.QUEUED, sweep_count=2)
    sandbox.seed(row)
    assert sandbox.update(Role.WORKER, row, changes) == answer


@pytest.mark.parametrize(
    ("row", "changes"),
    [
        (job(Status.RUNNING, stop_request_id=uuid.uuid4()), {"stop_request_id": uuid.uuid4()}),
        (job(Status.RUNNING, stop_request_id=uuid.uuid4()), {"stop_request_id": None}),
        (job(Status.QUEUED, cancellation_request_id=uuid.uuid4()), carried(Status.QUEUED, Status.CANCELED)),
    ],
    ids=["a second stop request", "a stop request withdrawn", "a second cancellation"],
)
def test_the_first_request_stands(sandbox: Sandbox, row: Row, changes: Row) -> None:
    sandbox.seed(row)
    assert sandbox.update(Role.API, row, changes) == CONDITION


@pytest.mark.parametrize("status", [Status.RUNNING, Status.DELIVERING])
def test_a_lease_is_never_removed_from_a_living_attempt(sandbox: Sandbox, status: Status) -> None:
    row = job(status)
    sandbox.seed(row)
    assert sandbox.update(Role.WORKER, row, {"lease_expires_at": None}) == CONDITION
