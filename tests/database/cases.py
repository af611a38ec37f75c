"""What each statement must do in each state, said a second time and in Python: when it applies, and to what."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from exports.states import FailureReason, Status
from tests.database.guarded import CHECK_VIOLATED, CONDITION
from tests.database.starting import EPOCH, Row, ago

if TYPE_CHECKING:
    from collections.abc import Callable

APPLIED, REFUSED = "applied", "refused"
TAKEN = "23505"
ATTEMPTS = 5

Q, R, D = Status.QUEUED, Status.RUNNING, Status.DELIVERING
C, F, U = Status.COMPLETED, Status.FAILED, Status.OUTCOME_UNKNOWN
REPLACEABLE = {FailureReason.BUILD_FAILED, FailureReason.ATTEMPTS_EXHAUSTED, FailureReason.NOT_DELIVERED}


@dataclass(frozen=True)
class Case:
    """One statement with some parameters; `answer` says what it must do to the row it finds."""

    statement: str
    answer: Callable[[Row, list[Row]], str]
    parameters: dict[str, Any] = field(default_factory=dict)
    events: int = 0
    """How many events an applied statement writes."""
    proven: bool = True
    """Whether it may be committed alone; a cancellation's update may not."""

    @property
    def title(self) -> str:
        return " ".join([self.statement, *(value for value in self.parameters.values() if isinstance(value, str))])


def bound(case: Case, row: Row, destination_id: uuid.UUID) -> dict[str, Any]:
    """Return the parameters of a case for one row: the right ones, unless the case has others."""
    attempt = row["attempt_id"] or uuid.uuid4()
    return {
        "job_id": row["id"],
        "tenant_id": row["tenant_id"],
        "attempt_id": attempt,
        "expired_attempt_id": attempt,
        "original_job_id": row["id"],
        "checked_version": 1,
        "expected_version": 1,
        "destination_id": destination_id,
        "request_id": uuid.uuid4(),
        "worker_id": "worker-9",
        "contract_id": "contract",
        "lease_seconds": 60,
        "final_name": "contacts-key.csv",
        "file_bytes": 10,
        "file_rows": 3,
        "file_sha256": b"h" * 32,
        "detail": "{}",
        "observed_by": "worker-9",
        "stop_point": "build",
        "reasons": "[]",
        "recovery_run_id": "run-1",
        "max_attempts": ATTEMPTS,
        "evidence_summary": "seen",
        "evidence_ref": "ticket",
        "reason": "because",
        "changed_by": "user:ann",
        "created_by": "user:ann",
        "replacement_reason": "asked to",
        "overwrite_agreement_ref": None,
        "reconciled_by": "user:rec",
        "corrected_by": "user:cor",
        "allow_same_person": False,
        "sweep_after_seconds": 60,
        "batch": 10,
        "after_tenant": uuid.UUID(int=0),
        "woken_before": ago(minutes=1),
        "name": "contacts-key.csv.ack",
        "mark": "size 2",
        "judged_evidence": 0,
    } | case.parameters


def _when(condition: Callable[[Row], Any]) -> Callable[[Row, list[Row]], str]:
    return lambda row, _: APPLIED if condition(row) else REFUSED


def _lapsed(row: Row) -> bool:
    return bool(row["lease_expires_at"] < datetime.now(UTC))


def _spent(row: Row) -> bool:
    given_back = row["lease_expires_at"] == EPOCH
    return bool(row["attempt_count"] >= 10 * ATTEMPTS or row["attempt_count"] - given_back >= ATTEMPTS)


def _is_replacement(row: Row) -> bool:
    return row.get("replaces_job_id") is not None


def _asked(row: Row) -> bool:
    return row.get("stop_request_id") is not None


def _expired_running(row: Row) -> bool:
    return row["status"] == R and _lapsed(row)


def _waits(row: Row) -> bool:
    return bool(row["status"] == Q and row["woken_at"] < ago(minutes=1))


def _authorize(row: Row, rows: list[Row]) -> str:
    if row["status"] != R:
        return "NotOwner"
    if _asked(row):
        return "StopRecorded"
    if _is_replacement(row) and rows[0]["status"] == C:
        return "OriginalCompleted"
    return "LeaseLapsed" if _lapsed(row) else "Authorized"


def _failing(status: Status, reason: FailureReason | None) -> Callable[[Row, list[Row]], str]:
    def answer(row: Row, _: list[Row]) -> str:
        if row["status"] != status:
            return REFUSED
        if reason is None:
            return CHECK_VIOLATED
        return CONDITION if reason == FailureReason.ORIGINAL_DELIVERED and not _is_replacement(row) else APPLIED

    return answer


def _replace(row: Row, rows: list[Row]) -> str:
    if _is_replacement(row) or not (row["status"] == U or row.get("failure_reason") in REPLACEABLE):
        return REFUSED
    lives = [other for other in rows if other.get("replaces_job_id") == row["id"] and other["status"] == Q]
    return TAKEN if lives else APPLIED


def _correct(recorded: Status, reason: FailureReason | None) -> Callable[[Row, list[Row]], str]:
    def answer(row: Row, _: list[Row]) -> str:
        if row["status"] != recorded or not row.get("delivery_authorized_at"):
            return REFUSED
        return CONDITION if reason == FailureReason.ORIGINAL_DELIVERED and not _is_replacement(row) else APPLIED

    return answer


def _correction(recorded: Status, corrected: Status, reason: FailureReason | None) -> Case:
    parameters = {"recorded_status": recorded, "corrected_status": corrected, "failure_reason": reason}
    return Case("correct", _correct(recorded, reason), parameters, events=1)


def _finishing(outcome: Status, reason: FailureReason | None, answer: Callable[[Row, list[Row]], str]) -> Case:
    return Case("finish_delivery", answer, {"outcome": outcome, "failure_reason": reason}, events=1)


CASES = [
    Case("claim", _when(lambda row: row["status"] == Q and row["version"] == 1), events=1),
    Case("reject", _when(lambda row: row["status"] == Q and row["version"] == 1)),
    Case("cancel_queued", _when(lambda row: row["status"] == Q), proven=False),
    Case("request_stop", _when(lambda row: row["status"] == R and not _asked(row)), proven=False),
    Case("change_terms", _when(lambda row: row["status"] == Q and row["version"] == 1 and not _is_replacement(row))),
    Case("create_replacement", _replace, {"job_id": uuid.uuid4()}),
    Case("lock_for_cancellation", lambda _row, _rows: APPLIED),
    Case("renew_lease", _when(lambda row: row["status"] in {R, D})),
    Case("return_lease", _when(lambda row: row["status"] == R)),
    Case("authorize_delivery", _authorize, events=1),
    Case("append_evidence", _when(lambda row: row["attempt_id"] is not None), events=1),
    Case("finish_stopped", _when(lambda row: row["status"] == R and _asked(row)), events=1),
    *(
        Case("finish_failed", _failing(R, reason), {"failure_reason": reason}, events=1)
        for reason in (
            FailureReason.BUILD_FAILED,
            FailureReason.FINAL_NAME_OCCUPIED,
            FailureReason.ORIGINAL_DELIVERED,
        )
    ),
    Case("finish_failed", _when(lambda _: False), {"failure_reason": FailureReason.NOT_DELIVERED}),
    Case("finish_failed", _when(lambda _: False), {"failure_reason": None}),
    _finishing(C, None, _when(lambda row: row["status"] == D)),
    _finishing(U, None, _when(lambda row: row["status"] == D)),
    *(
        _finishing(F, reason, _failing(D, reason))
        for reason in (
            FailureReason.NOT_DELIVERED,
            FailureReason.FINAL_NAME_OCCUPIED,
            FailureReason.ORIGINAL_DELIVERED,
            None,
        )
    ),
    _finishing(Q, None, _when(lambda _: False)),
    Case("requeue", _when(lambda row: _expired_running(row) and not _asked(row) and not _spent(row)), events=1),
    Case("exhaust", _when(lambda row: _expired_running(row) and not _asked(row) and _spent(row)), events=1),
    Case("stop_expired", _when(lambda row: _expired_running(row) and _asked(row)), events=1),
    *(
        Case("resolve", _when(lambda row: row["status"] == D and _lapsed(row)), {"resolution": outcome}, events=1)
        for outcome in (C, U)
    ),
    Case("resolve", _when(lambda _: False), {"resolution": F}),
    *(
        Case("reconcile", _when(lambda row: row["status"] == U), {"resolution": outcome}, events=1)
        for outcome in (C, F)
    ),
    Case("reconcile", _when(lambda _: False), {"resolution": U}),
    Case("collect_acknowledgment", _when(lambda row: row.get("delivery_authorized_at") is not None), events=1),
    Case("complete_acknowledged", _when(lambda row: row["status"] == U), {"judged_evidence": 0}, events=1),
    Case("complete_acknowledged", _when(lambda _: False), {"judged_evidence": 1}),
    _correction(C, F, FailureReason.NOT_DELIVERED),
    _correction(C, F, FailureReason.ORIGINAL_DELIVERED),
    _correction(F, C, None),
    Case("sweep", lambda _, rows: APPLIED if any(map(_waits, rows)) else REFUSED),
    Case("wake_waiting", _when(_waits)),
]

NO_EXPORT = {
    "create_export": "finds nothing; its refusals are unique violations",
    "record_cancellation": "records a click, whatever the state; its refusal is a unique violation",
    "take_outbox": "about wake-ups, not exports",
    "mark_published": "about wake-ups, not exports",
    "lock_gate": "takes an advisory lock and touches no row",
    "open_hold": "about a destination, not an export",
}
"""Statements whose answer does not depend on an export's state, and why."""
