"""Every state a statement can find an export in: the nine statuses, each in the variations that guards ask about."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from exports.states import FailureReason, Status
from tests.database.starting import EPOCH, LAPSED, Row, ago, job, replacement

if TYPE_CHECKING:
    from collections.abc import Callable


def _lapsed() -> Row:
    return {"lease_expires_at": ago() + LAPSED}


def _asked() -> Row:
    return {"stop_request_id": uuid.uuid4()}


def _alone(status: Status, **values: object) -> list[Row]:
    return [job(status, **values)]


def _replacing(original: Status, status: Status, **values: object) -> list[Row]:
    first = job(original)
    return [first, replacement(first, status, **values)]


def _replaced(original: Status, status: Status) -> list[Row]:
    """Return the replacement first: the subject is the last row."""
    first = job(original)
    return [first, replacement(first, status), first]


Q, R, D = Status.QUEUED, Status.RUNNING, Status.DELIVERING
C, F, U = Status.COMPLETED, Status.FAILED, Status.OUTCOME_UNKNOWN

STARTS: dict[str, Callable[[], list[Row]]] = {
    "queued": lambda: _alone(Q),
    "queued, edited": lambda: _alone(Q, version=2),
    "queued, just woken": lambda: _alone(Q, woken_at=ago()),
    "queued again": lambda: _alone(Q, attempt_count=1),
    "queued replacement": lambda: _replacing(U, Q),
    "running": lambda: _alone(R),
    "running, lapsed": lambda: _alone(R, **_lapsed()),
    "running, returned": lambda: _alone(R, lease_expires_at=EPOCH),
    "running, asked to stop": lambda: _alone(R, **_asked()),
    "running, lapsed, asked to stop": lambda: _alone(R, **_lapsed(), **_asked()),
    "running, lapsed, for the fifth time": lambda: _alone(R, **_lapsed(), attempt_count=5),
    "running, returned, for the fifth time": lambda: _alone(R, lease_expires_at=EPOCH, attempt_count=5),
    "running, returned, for the fiftieth time": lambda: _alone(R, lease_expires_at=EPOCH, attempt_count=50),
    "running replacement": lambda: _replacing(U, R),
    "running replacement, lapsed": lambda: _replacing(U, R, **_lapsed()),
    "running replacement of a completed": lambda: _replacing(C, R),
    "delivering": lambda: _alone(D),
    "delivering, lapsed": lambda: _alone(D, **_lapsed()),
    "delivering replacement": lambda: _replacing(F, D),
    "canceled": lambda: _alone(Status.CANCELED),
    "rejected": lambda: _alone(Status.REJECTED),
    "stopped": lambda: _alone(Status.STOPPED),
    "completed": lambda: _alone(C),
    "completed replacement": lambda: _replacing(F, C),
    "failed: not delivered": lambda: _alone(F),
    "failed: build": lambda: _alone(F, failure_reason=FailureReason.BUILD_FAILED),
    "failed: attempts": lambda: _alone(F, failure_reason=FailureReason.ATTEMPTS_EXHAUSTED),
    "failed: occupied": lambda: _alone(F, failure_reason=FailureReason.FINAL_NAME_OCCUPIED),
    "failed: original delivered": lambda: _replacing(U, F, failure_reason=FailureReason.ORIGINAL_DELIVERED),
    "failed, replaced": lambda: _replaced(F, Q),
    "unknown": lambda: _alone(U),
    "unknown, replaced": lambda: _replaced(U, Q),
    "unknown, replaced in vain": lambda: _replaced(U, Status.STOPPED),
    "unknown replacement": lambda: _replacing(F, U),
}
"""Rows to insert, in order; the last one named is what the statement is about."""


def distinct(rows: list[Row]) -> list[Row]:
    """Return each row once, in order."""
    return list({row["id"]: row for row in rows}.values())
