"""Correct a record that late evidence proved wrong: Completed ↔ Failed, once per attempt, with who and why.

To Completed only with evidence that identifies the file; to Failed only as not delivered or, for a replacement, as
its original's delivery. Whoever reconciled an attempt does not correct it, unless a setting allows that, which is
then recorded. Nothing is locked while a person looks at the form (DESIGN, correction 8).
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.db import IntegrityError

from exports import boundary
from exports.conf import limits
from exports.crashpoints import reach
from exports.evidence import Conclusion
from exports.models import ExportJob
from exports.states import EventKind, FailureReason, Status, Written
from reconciliation.actions.settling import (
    GIVE_UP_SECONDS,
    NotFound,
    SettledBy,
    Unsettled,
    find,
    proposal_for,
    settled_by,
)
from reconciliation.managers import Settlements

if TYPE_CHECKING:
    from uuid import UUID

    from exports.verdicts import Verdict

logger = logging.getLogger(__name__)

ONE_REPLACEMENT = "uq_export_jobs_one_replacement"
NOT_HOLDING_THE_SLOT = (Status.CANCELED, Status.REJECTED, Status.STOPPED, Status.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What a person wants the record looked at (`recorded_status`) to say instead."""

    tenant_id: UUID
    job_id: UUID
    attempt_id: UUID
    recorded_status: Status
    corrected_status: Status
    failure_reason: FailureReason | None
    corrected_by: str
    evidence_ref: str
    reason: str


@dataclass(frozen=True, slots=True)
class Corrected:
    """The record says now what the correction asked for."""

    status: Status


@dataclass(frozen=True, slots=True)
class RecordMoved:
    """The record is not the one looked at, or was corrected before; `by` says who did."""

    status: Status
    by: SettledBy | None


@dataclass(frozen=True, slots=True)
class NotProved:
    """The evidence does not identify the file, so the record may not be corrected to Completed."""

    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class NotAReason:
    """The failure code is not one a correction may record for this export."""


@dataclass(frozen=True, slots=True)
class SamePerson:
    """Whoever reconciled the attempt may not also correct it."""


@dataclass(frozen=True, slots=True)
class NeverAuthorized:
    """Delivery was never authorized, so there is no delivery to correct the record of."""


@dataclass(frozen=True, slots=True)
class ReplacementInProgress:
    """Another replacement holds the original's one slot; it has to be cancelled or to end first."""

    replacement_job_id: UUID | None


Answer = (
    Corrected
    | RecordMoved
    | NotProved
    | NotAReason
    | SamePerson
    | NeverAuthorized
    | ReplacementInProgress
    | NotFound
    | Unsettled
)


def correct_outcome(correction: Correction, *, using: str = "reconciliation") -> Answer:
    """Record a correction; definite database errors other than a taken slot pass through."""
    job = find(correction.tenant_id, correction.job_id, using)
    if job is None:
        return NotFound()
    if (job.status, job.attempt_id) != (correction.recorded_status, correction.attempt_id):
        return RecordMoved(Status(job.status), _by(correction, using))
    refusal = _refusal(correction, job, using)
    return refusal if refusal is not None else _settle(_with_relaxation(correction, using), using)


def _refusal(correction: Correction, job: ExportJob, using: str) -> Answer | None:
    if (earlier := _by(correction, using)) is not None:
        return RecordMoved(Status(job.status), earlier)
    if job.delivery_authorized_at is None:
        return NeverAuthorized()
    if correction.corrected_status is Status.COMPLETED:
        verdict = proposal_for(job, using)
        proved = verdict is not None and verdict.conclusion is Conclusion.COMPLETED
        if not proved:
            return NotProved(verdict)
    elif correction.failure_reason not in _allowed_reasons(job):
        return NotAReason()
    if _reconciled_by_same(correction, using) and not limits().allow_same_person_correction:
        return SamePerson()
    return None


def _allowed_reasons(job: ExportJob) -> frozenset[FailureReason]:
    always = frozenset({FailureReason.NOT_DELIVERED})
    return always if job.replaces_job_id is None else always | {FailureReason.ORIGINAL_DELIVERED}


def _reconciled_by_same(correction: Correction, using: str) -> bool:
    reconciled = settled_by(correction.job_id, correction.attempt_id, EventKind.RECONCILED, using)
    return reconciled is not None and reconciled.by == correction.corrected_by


def _with_relaxation(correction: Correction, using: str) -> Correction:
    """Record where one person was allowed to do both."""
    if not _reconciled_by_same(correction, using):
        return correction
    return replace(correction, reason=f"{correction.reason} [by the person who reconciled it, as a setting allows]")


def _settle(correction: Correction, using: str) -> Answer:
    unknown: Answer = Unsettled()
    try:
        return boundary.settle(
            lambda: _write(correction, using),
            lambda: _recorded(correction, using),
            unknown=unknown,
            give_up_at=time.monotonic() + GIVE_UP_SECONDS,
            using=using,
        )
    except IntegrityError as error:
        if ONE_REPLACEMENT not in str(error):
            raise
        return ReplacementInProgress(_slot_holder(correction, using))


def _write(correction: Correction, using: str) -> Answer:
    reach("correct.before")
    written = Settlements(using).correct(
        tenant_id=correction.tenant_id,
        job_id=correction.job_id,
        attempt_id=correction.attempt_id,
        recorded_status=correction.recorded_status,
        corrected_status=correction.corrected_status,
        failure_reason=correction.failure_reason,
        corrected_by=correction.corrected_by,
        evidence_ref=correction.evidence_ref,
        reason=correction.reason,
        allow_same_person=limits().allow_same_person_correction,
    )
    reach("correct.after")
    if written is not Written.APPLIED:
        return _recorded(correction, using)
    ids = {"job_id": str(correction.job_id), "tenant_id": str(correction.tenant_id)}
    ids |= {"attempt_id": str(correction.attempt_id), "actor": correction.corrected_by}
    logger.info("outcome_corrected", extra=ids | {"to": correction.corrected_status})
    return Corrected(correction.corrected_status)


def _recorded(correction: Correction, using: str) -> Answer:
    """Say from the row and its one event what was recorded, and by whom."""
    by = _by(correction, using)
    if by is not None and by.by == correction.corrected_by and (by.words or "").endswith(correction.reason):
        return Corrected(correction.corrected_status)
    status = ExportJob.objects.using(using).values_list("status", flat=True).get(id=correction.job_id)
    moved = by is not None or status != correction.recorded_status
    return RecordMoved(Status(status), by) if moved else Unsettled()


def _slot_holder(correction: Correction, using: str) -> UUID | None:
    """Return the replacement that holds the slot of this one's original."""
    jobs = ExportJob.objects.using(using)
    original = jobs.filter(id=correction.job_id).values_list("replaces_job_id", flat=True)
    others = jobs.filter(tenant_id=correction.tenant_id, replaces_job_id__in=original).exclude(id=correction.job_id)
    live = others.exclude(status__in=NOT_HOLDING_THE_SLOT) | others.filter(
        failure_reason=FailureReason.ORIGINAL_DELIVERED
    )
    holder: UUID | None = live.values_list("id", flat=True).first()
    return holder


def _by(correction: Correction, using: str) -> SettledBy | None:
    return settled_by(correction.job_id, correction.attempt_id, EventKind.CORRECTED, using)
