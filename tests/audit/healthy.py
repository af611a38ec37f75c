"""Exports with every history the product can write, each by its own statements under its own role."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from exports.models import ExportJob
from exports.states import Authorization, FailureReason, Status, Written
from reconciliation.managers import Settlements
from tests.cancellation.clicking import a_click, submit
from tests.recovery.lives import attempt_of, authorize, claim, delivering, expire, finish, now, queued, running
from tests.recovery.running import recover

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.recovery.lives import Place


def cancelled(place: Place) -> ExportJob:
    """Cancel while queued, and click on once more."""
    job = queued(place)
    submit(a_click(job))
    submit(a_click(job))
    return now(job.id)


def rejected(place: Place) -> ExportJob:
    """Refuse by policy, with reasons."""
    job = queued(place)
    ExportJob.objects.db_manager("worker").reject(job_id=job.id, checked_version=1, reasons=["test"])
    return now(job.id)


def stop_requested(place: Place) -> ExportJob:
    """Ask a running export to stop, twice."""
    job = running(place)
    submit(a_click(job))
    submit(a_click(job))
    return now(job.id)


def stopped(place: Place) -> ExportJob:
    """Stop by its own worker."""
    job = stop_requested(place)
    ExportJob.objects.db_manager("worker").finish_stopped(
        job_id=job.id, attempt_id=attempt_of(job), worker_id="worker:test", stop_point="while building"
    )
    submit(a_click(job))
    return now(job.id)


def build_failed(place: Place) -> ExportJob:
    """Fail before anything leaves the process."""
    job = running(place)
    ExportJob.objects.db_manager("worker").finish_failed(
        job_id=job.id,
        attempt_id=attempt_of(job),
        worker_id="worker:test",
        reason=FailureReason.BUILD_FAILED,
        detail=None,
    )
    return now(job.id)


def requeued(place: Place) -> ExportJob:
    """Take over, claim again, and take over once more."""
    job = queued(place)
    for _ in range(2):
        claim(now(job.id), place)
        expire(job)
        recover()
    return now(job.id)


def stopped_by_recovery(place: Place) -> ExportJob:
    """Ask to stop, and find it expired."""
    job = stop_requested(place)
    expire(job)
    recover()
    return now(job.id)


def exhausted(place: Place) -> ExportJob:
    """Use up every attempt."""
    job = queued(place)
    for _ in range(5):
        claim(now(job.id), place)
        expire(job)
        recover()
    return now(job.id)


def completed(place: Place) -> ExportJob:
    """Deliver, and click too late."""
    job = finish(delivering(place))
    submit(a_click(job))
    return now(job.id)


def unknown(place: Place) -> ExportJob:
    """End by its worker without knowing."""
    return finish(delivering(place), Status.OUTCOME_UNKNOWN)


def unknown_by_recovery(place: Place) -> ExportJob:
    """Find it expired after cutoff 2, with a partner that does not answer."""
    job = delivering(place)
    expire(job, seconds=10_000)
    recover()
    return now(job.id)


def settle(job: ExportJob, resolution: Status) -> ExportJob:
    """Reconcile an unknown outcome."""
    written = Settlements("reconciliation").reconcile(
        tenant_id=job.tenant_id,
        job_id=job.id,
        attempt_id=attempt_of(job),
        resolution=resolution,
        reconciled_by="user:rita",
        evidence_ref="ticket 1",
        reason="the partner said so",
    )
    assert written is Written.APPLIED
    return now(job.id)


def correct(job: ExportJob, to: Status) -> ExportJob:
    """Correct a record that turned out wrong."""
    written = Settlements("reconciliation").correct(
        tenant_id=job.tenant_id,
        job_id=job.id,
        attempt_id=attempt_of(job),
        recorded_status=Status(job.status),
        corrected_status=to,
        failure_reason=FailureReason.NOT_DELIVERED if to is Status.FAILED else None,
        corrected_by="user:carl",
        evidence_ref="ticket 2",
        reason="late acknowledgment to Completed: as the partner wrote",
        allow_same_person=False,
    )
    assert written is Written.APPLIED
    return now(job.id)


def reconciled(place: Place) -> ExportJob:
    """Settle as never delivered."""
    return settle(unknown(place), Status.FAILED)


def corrected_twice_over(place: Place) -> ExportJob:
    """Settle as never delivered, then correct to delivered."""
    return correct(reconciled(place), Status.COMPLETED)


def corrected_to_failed(place: Place) -> ExportJob:
    """Record as delivered, then correct it."""
    return correct(completed(place), Status.FAILED)


def replacement_of(original: ExportJob) -> ExportJob:
    """Create a replacement as an approver does."""
    job_id = uuid.uuid4()
    written = ExportJob.objects.db_manager("api").create_replacement(
        job_id=job_id,
        tenant_id=original.tenant_id,
        original_job_id=original.id,
        created_by="user:ann",
        replacement_reason="lost at the partner",
        overwrite_agreement_ref=None,
    )
    assert written is Written.APPLIED
    return now(job_id)


def delivering_replacement(place: Place) -> ExportJob:
    """Bring a replacement of a lost delivery past cutoff 2."""
    job = replacement_of(reconciled(place))
    claim(job, place)
    assert authorize(now(job.id), place) is Authorization.AUTHORIZED
    return now(job.id)


def replaced(place: Place) -> ExportJob:
    """Deliver a replacement of a lost delivery."""
    return finish(delivering_replacement(place))


HISTORIES: tuple[Callable[[Place], ExportJob], ...] = (
    queued,
    cancelled,
    rejected,
    running,
    stop_requested,
    stopped,
    build_failed,
    requeued,
    stopped_by_recovery,
    exhausted,
    delivering,
    completed,
    unknown,
    unknown_by_recovery,
    reconciled,
    corrected_twice_over,
    corrected_to_failed,
    replaced,
)
