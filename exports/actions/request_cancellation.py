"""One click on cancel: decided under the row's lock and recorded with what it found.

Implements I9 and the reference's "Recording Cancellation Requests". The transaction holds the job's row, so it
stays short: a locking read, a lookup, at most one update, one insert. Whoever calls has authenticated the
person or client and checked their access to the tenant.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, assert_never

import psycopg.errors
from django.db import DatabaseError, InterfaceError, connections, transaction

from exports.boundary import Doubt, ask_the_row, doubt_of
from exports.conf import limits
from exports.crashpoints import reach
from exports.errors import ExportError
from exports.models import CancellationRequest, ExportJob
from exports.observability import counters
from exports.states import CancellationOutcome, Status, Written

if TYPE_CHECKING:
    from uuid import UUID

log = logging.getLogger(__name__)
access_log = logging.getLogger("exports.access")

RETRY_AFTER_SECONDS = 1
"""When a Busy click is worth another try: a row is held for milliseconds, unless something is wrong."""


class ChangedUnderLock(ExportError):  # noqa: N818 - the reference's words for it
    """The job changed under its row lock; nothing was recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Click:
    """One submission; a repeat of the same click carries the same request id."""

    tenant_id: UUID
    job_id: UUID
    request_id: UUID
    requested_by: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """The click has its one recorded outcome; `repeated` when an earlier submission recorded it."""

    request: CancellationRequest
    repeated: bool


@dataclass(frozen=True, slots=True)
class NotFound:
    """No such export in this tenant; nothing is recorded, another tenant's looks exactly like a missing one."""

    request_id: UUID


@dataclass(frozen=True, slots=True)
class RequestIdReused:
    """The request id belongs to another job's or person's click; nothing was done."""

    request_id: UUID


class BusyCause(StrEnum):
    """Why a click got no recorded outcome."""

    REFUSED = "Refused"
    """The database definitely applied nothing of this submission."""
    UNKNOWN = "Unknown"
    """The answer was lost and no record could be read; this submission may still turn out to have counted."""


@dataclass(frozen=True, slots=True)
class Busy:
    """We could not tell; submit the same click again, with the same request id."""

    request_id: UUID
    cause: BusyCause
    retry_after_seconds: int = RETRY_AFTER_SECONDS


CancellationAnswer = Recorded | NotFound | RequestIdReused | Busy


def request_cancellation(click: Click, *, using: str = "default") -> CancellationAnswer:
    """Record a click and say what it found; raise ChangedUnderLock only when the row lock itself failed."""
    answer = _answer(click, using)
    counters.cancellations.labels(_word(answer)).inc()
    log.info("cancellation_answered", extra=_ids(click) | {"actor": click.requested_by, "outcome": _word(answer)})
    return answer


def _word(answer: CancellationAnswer) -> str:
    """Name the answer for those who count; a repeated click is no second outcome."""
    if isinstance(answer, Recorded) and not answer.repeated:
        return answer.request.outcome
    return type(answer).__name__ if not isinstance(answer, Recorded) else "Repeated"


def _answer(click: Click, using: str) -> CancellationAnswer:
    try:
        answer = _decide_and_record(click, using)
    except (DatabaseError, InterfaceError) as error:
        return _without_an_answer(click, using, error)
    reach("cancel.commit.after")
    return answer


def decide(status: Status, *, stop_requested: bool) -> CancellationOutcome:
    """Say what a click that finds this row amounts to."""
    match status:
        case Status.QUEUED:
            return CancellationOutcome.CANCELED_WHILE_QUEUED
        case Status.RUNNING:
            already = CancellationOutcome.STOP_ALREADY_REQUESTED
            return already if stop_requested else CancellationOutcome.STOP_REQUESTED
        case Status.CANCELED:
            return CancellationOutcome.ALREADY_CANCELED
        case Status.REJECTED | Status.STOPPED | Status.FAILED:
            return CancellationOutcome.ALREADY_ENDED
        case Status.DELIVERING | Status.COMPLETED | Status.OUTCOME_UNKNOWN:
            return CancellationOutcome.TOO_LATE
        case _:
            assert_never(status)


def _decide_and_record(click: Click, using: str) -> CancellationAnswer:
    # durable: inside a caller's transaction the lock would last until theirs ends, and so would every claim's wait.
    with transaction.atomic(using=using, durable=True):
        _bound_lock_waits(using)
        found = _lock(click, using)
        if found is None:
            return _not_found(click)
        # Looked up under the lock, so that two submissions of one click are served one after the other.
        earlier = _find(click, using)
        if earlier is not None:
            return _answer_again(click, earlier)
        outcome = decide(Status(found.status), stop_requested=found.stop_request_id is not None)
        if _apply(click, outcome, using) is Written.REFUSED:
            _refuse_to_record(click, outcome)
        recorded = _record(click, found, outcome, using)
        reach("cancel.commit.before")
        return Recorded(recorded, repeated=False)


def _bound_lock_waits(using: str) -> None:
    # SET LOCAL, in the form that takes a parameter. It bounds this transaction's waits, not the holder's lock.
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{limits().cancel_lock_timeout_ms}ms"])


def _lock(click: Click, using: str) -> ExportJob | None:
    jobs = ExportJob.objects.db_manager(using)
    job: ExportJob | None = jobs.lock_for_cancellation(tenant_id=click.tenant_id, job_id=click.job_id)
    return job


def _find(click: Click, using: str) -> CancellationRequest | None:
    requests = CancellationRequest.objects.using(using)
    earlier: CancellationRequest | None = requests.filter(tenant_id=click.tenant_id, id=click.request_id).first()
    return earlier


def _answer_again(click: Click, earlier: CancellationRequest) -> CancellationAnswer:
    # A retry with another reason is the same click; the first reason stands.
    if (earlier.job_id, earlier.requested_by) == (click.job_id, click.requested_by):
        return Recorded(earlier, repeated=True)
    return RequestIdReused(click.request_id)


def _apply(click: Click, outcome: CancellationOutcome, using: str) -> Written:
    jobs = ExportJob.objects.db_manager(using)
    named = {"tenant_id": click.tenant_id, "job_id": click.job_id, "request_id": click.request_id}
    match outcome:
        case CancellationOutcome.CANCELED_WHILE_QUEUED:
            return jobs.cancel_queued(**named)
        case CancellationOutcome.STOP_REQUESTED:
            return jobs.request_stop(**named)
        case (
            CancellationOutcome.STOP_ALREADY_REQUESTED
            | CancellationOutcome.ALREADY_CANCELED
            | CancellationOutcome.ALREADY_ENDED
            | CancellationOutcome.TOO_LATE
        ):
            return Written.APPLIED  # these outcomes change nothing on the job
        case _:
            assert_never(outcome)


def _record(click: Click, found: ExportJob, outcome: CancellationOutcome, using: str) -> CancellationRequest:
    recorded: CancellationRequest = CancellationRequest.objects.db_manager(using).record(
        tenant_id=click.tenant_id,
        request_id=click.request_id,
        job_id=click.job_id,
        requested_by=click.requested_by,
        reason=click.reason,
        outcome=outcome.value,
        found_status=found.status,
        found_attempt_id=found.attempt_id,
        found_attempt_count=found.attempt_count,
        found_delivery_authorized_at=found.delivery_authorized_at,
    )
    return recorded


def _refuse_to_record(click: Click, outcome: CancellationOutcome) -> None:
    # Impossible while the row is locked, so the lock did not hold: the outcome is not true and may not be recorded.
    log.critical("cancellation_not_recorded", extra=_ids(click) | {"outcome": outcome.value})
    raise ChangedUnderLock(f"export {click.job_id} changed under its row lock; nothing was recorded")


def _not_found(click: Click) -> NotFound:
    access_log.info("export_to_cancel_not_found", extra=_ids(click) | {"actor": click.requested_by})
    return NotFound(click.request_id)


def _ids(click: Click) -> dict[str, str]:
    """Name what a line is about; a click's own id is not that of the request to the web process."""
    return {"job_id": str(click.job_id), "tenant_id": str(click.tenant_id), "click_id": str(click.request_id)}


def _without_an_answer(click: Click, using: str, error: Exception) -> CancellationAnswer:
    match doubt_of(error, using):
        case Doubt.NOT_NOW:
            return Busy(click.request_id, BusyCause.REFUSED)
        case Doubt.UNKNOWN:
            return _read_back(click, using)
        case Doubt.REAL:
            return _recorded_under_another_lock(click, using, error)
        case doubt:
            assert_never(doubt)


def _recorded_under_another_lock(click: Click, using: str, error: Exception) -> CancellationAnswer:
    # Two jobs are two locks: the same request id can be committed under the other while this one inserts it.
    if not isinstance(error.__cause__, psycopg.errors.UniqueViolation):
        raise error
    return _read_back(click, using)


def _read_back(click: Click, using: str) -> CancellationAnswer:
    # That transaction is over, or lost with its session: only a new connection can say what is recorded.
    unknown: CancellationAnswer = Busy(click.request_id, BusyCause.UNKNOWN)

    def reread() -> CancellationAnswer:
        earlier = _find(click, using)
        return unknown if earlier is None else _answer_again(click, earlier)

    return ask_the_row(reread, unknown=unknown, using=using)
