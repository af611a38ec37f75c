"""What must be true of a row for each move, beside who makes it: every condition broken alone."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest

from exports.states import TRANSITIONS, FailureReason, Role, Status
from tests.database.guarded import CHECK_VIOLATED, CONDITION, OK
from tests.database.starting import EPOCH, LAPSED, Row, ago, job, replacement
from tests.database.test_transitions import carried, start

if TYPE_CHECKING:
    from tests.database.guarded import Sandbox

Q, R, D, S, F, C, U = (
    Status.QUEUED,
    Status.RUNNING,
    Status.DELIVERING,
    Status.STOPPED,
    Status.FAILED,
    Status.COMPLETED,
    Status.OUTCOME_UNKNOWN,
)
NOW, LATER, EARLIER = ago(), ago(hours=-2), ago(hours=2)

# (from, to, what the row has instead, what the move carries instead)
BROKEN: list[tuple[Status, Status, Row, Row]] = [
    (Q, R, {}, {"attempt_count": 0}),
    (Q, R, {}, {"attempt_count": 2}),
    (Q, R, {}, {"attempt_id": None}),
    (Q, R, {}, {"claimed_by": None}),
    (Q, R, {}, {"lease_expires_at": None}),
    (R, D, {"stop_request_id": uuid.uuid4()}, {}),
    (R, D, {"lease_expires_at": ago() + LAPSED}, {}),
    (R, D, {"lease_expires_at": EPOCH}, {}),
    (R, D, {}, {"delivery_authorized_at": None}),
    (R, D, {}, {"delivery_authorized_at": EARLIER}),
    (R, D, {}, {"delivery_authorized_at": LATER}),
    (R, D, {}, {"expected_file_name": None}),
    (R, D, {}, {"expected_file_bytes": None}),
    (R, D, {}, {"expected_file_sha256": None}),
    (R, D, {"expected_file_name": "another"}, {}),
    (R, D, {"delivery_authorized_at": EARLIER}, {}),
    (R, S, {"stop_request_id": None}, {}),
    (R, S, {}, {"lease_expires_at": NOW}),
    (R, F, {}, {"lease_expires_at": NOW}),
    (R, F, {}, {"failure_reason": FailureReason.NOT_DELIVERED}),
    (R, F, {}, {"failure_reason": FailureReason.ORIGINAL_DELIVERED}),
    (R, F, {}, {"failure_reason": FailureReason.ATTEMPTS_EXHAUSTED}),
    (
        R,
        F,
        {"lease_expires_at": ago() + LAPSED, "stop_request_id": uuid.uuid4()},
        {"failure_reason": FailureReason.ATTEMPTS_EXHAUSTED},
    ),
    (R, Q, {"lease_expires_at": LATER}, {}),
    (R, Q, {"stop_request_id": uuid.uuid4()}, {}),
    (D, C, {}, {"lease_expires_at": NOW}),
    (D, U, {}, {"lease_expires_at": NOW}),
    (D, F, {}, {"lease_expires_at": NOW}),
    (D, F, {}, {"failure_reason": FailureReason.BUILD_FAILED}),
    (D, F, {}, {"failure_reason": FailureReason.ATTEMPTS_EXHAUSTED}),
    (D, F, {}, {"failure_reason": FailureReason.ORIGINAL_DELIVERED}),
    (U, F, {}, {"failure_reason": FailureReason.ORIGINAL_DELIVERED}),
    (U, F, {}, {"failure_reason": FailureReason.FINAL_NAME_OCCUPIED}),
    (C, F, {}, {"failure_reason": FailureReason.ORIGINAL_DELIVERED}),
    (C, F, {}, {"failure_reason": FailureReason.BUILD_FAILED}),
    (C, F, {"delivery_authorized_at": None}, {}),
    (F, C, {"delivery_authorized_at": None}, {}),
]
REASONS: dict[tuple[Status, Status], set[FailureReason]] = {
    (R, F): {FailureReason.BUILD_FAILED, FailureReason.FINAL_NAME_OCCUPIED, FailureReason.ORIGINAL_DELIVERED},
    (D, F): {FailureReason.NOT_DELIVERED, FailureReason.FINAL_NAME_OCCUPIED, FailureReason.ORIGINAL_DELIVERED},
    (U, F): {FailureReason.NOT_DELIVERED},
    (C, F): {FailureReason.NOT_DELIVERED, FailureReason.ORIGINAL_DELIVERED},
}
"""Why a replacement may fail in each move; an original's file is the original's only for a replacement."""


def _role(found: Status, wanted: Status) -> Role:
    return next(iter(TRANSITIONS[found, wanted]))


@pytest.mark.parametrize(("found", "wanted", "row_has", "move_carries"), BROKEN)
def test_a_move_is_refused_when_one_condition_is_broken(
    sandbox: Sandbox, found: Status, wanted: Status, row_has: Row, move_carries: Row
) -> None:
    row = start(found, wanted) | row_has
    sandbox.seed(row)
    sound = start(found, wanted)
    sandbox.seed(sound)
    assert sandbox.update(_role(found, wanted), sound, carried(found, wanted)) == OK
    changes = carried(found, wanted) | move_carries
    assert sandbox.update(_role(found, wanted), row, changes) == CONDITION


@pytest.mark.parametrize("reason", FailureReason)
@pytest.mark.parametrize("move", REASONS)
def test_each_failure_belongs_to_its_moves(
    sandbox: Sandbox, move: tuple[Status, Status], reason: FailureReason
) -> None:
    original = job(U)
    row = replacement(original, move[0])
    sandbox.seed(original, row)
    changes = carried(*move) | {"failure_reason": reason}
    assert sandbox.update(_role(*move), row, changes) == (OK if reason in REASONS[move] else CONDITION)


@pytest.mark.parametrize("move", REASONS)
def test_failed_without_a_reason_is_refused_by_its_check(sandbox: Sandbox, move: tuple[Status, Status]) -> None:
    row = start(*move)
    sandbox.seed(row)
    changes = carried(*move) | {"failure_reason": None}
    assert sandbox.update(_role(*move), row, changes) == CHECK_VIOLATED


def test_completed_with_a_reason_is_refused_by_its_check(sandbox: Sandbox) -> None:
    row = job(F)
    sandbox.seed(row)
    assert sandbox.update(Role.RECONCILER, row, {"status": C}) == CHECK_VIOLATED


def test_attempts_are_exhausted_only_by_takeover(sandbox: Sandbox) -> None:
    row = job(R, lease_expires_at=ago() + LAPSED)
    sandbox.seed(row)
    changes = carried(R, F) | {"failure_reason": FailureReason.ATTEMPTS_EXHAUSTED}
    assert sandbox.update(Role.WORKER, row, changes) == OK


@pytest.mark.parametrize("of_original", Status)
def test_a_replacement_is_not_authorized_once_its_original_completed(sandbox: Sandbox, of_original: Status) -> None:
    original = job(of_original)
    row = replacement(original, R)
    sandbox.seed(original, row)
    assert sandbox.update(Role.WORKER, row, carried(R, D)) == (CONDITION if of_original is C else OK)


def test_a_lease_that_lapses_before_the_moment_of_authorization_authorizes_nothing(sandbox: Sandbox) -> None:
    moment: Any = ago(seconds=-10)
    row = job(R, lease_expires_at=moment)
    sandbox.seed(row)
    for authorized_at, answer in ((moment, CONDITION), (ago(seconds=-5), OK)):
        changes = carried(R, D) | {"delivery_authorized_at": authorized_at}
        assert sandbox.update(Role.WORKER, row, changes) == answer
