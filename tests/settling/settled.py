"""Exports whose outcome a person has to settle, and decisions about them."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from exports.actions.create_replacement import Answers, Judged, Replacement, Wish, create_replacement
from exports.states import FailureReason, Status
from reconciliation.actions.correct_outcome import Answer, Correction, correct_outcome
from reconciliation.actions.reconcile_outcome import Decision, Reconciliation, reconcile_outcome
from tests.recovery import lives

if TYPE_CHECKING:
    from exports.models import ExportJob
    from tests.recovery.lives import Place

ROSA, RUDI, RUTH = "user:rosa", "user:rudi", "user:ruth"
FOR_IT = Answers(
    original_may_still_upload=Judged(yes=False, source="its credentials were revoked"),
    reconciliation_was_tried=Judged(yes=True, source="ticket 7"),
    partner_deduplicates=Judged(yes=True, source="contract, section 4"),
)


def unknown(place: Place) -> ExportJob:
    """Return an export that its worker left OutcomeUnknown."""
    return lives.finish(lives.delivering(place), Status.OUTCOME_UNKNOWN)


def decision(job: ExportJob, resolution: Status = Status.COMPLETED, **changes: Any) -> Decision:
    made = Decision(
        tenant_id=job.tenant_id,
        job_id=job.id,
        attempt_id=lives.attempt_of(job),
        resolution=resolution,
        decided_by=ROSA,
        evidence_ref="ticket 7",
        reason="the partner confirmed it by telephone",
        why_against="the evidence alone does not tell",
    )
    return replace(made, **changes)


def reconcile(job: ExportJob, resolution: Status = Status.COMPLETED, **changes: Any) -> Reconciliation:
    return reconcile_outcome(decision(job, resolution, **changes))


def correction(job: ExportJob, to: Status = Status.FAILED, **changes: Any) -> Correction:
    made = Correction(
        tenant_id=job.tenant_id,
        job_id=job.id,
        attempt_id=lives.attempt_of(job),
        recorded_status=Status(job.status),
        corrected_status=to,
        failure_reason=FailureReason.NOT_DELIVERED if to is Status.FAILED else None,
        corrected_by=RUDI,
        evidence_ref="ticket 8",
        reason="late evidence",
    )
    return replace(made, **changes)


def correct(job: ExportJob, to: Status = Status.FAILED, **changes: Any) -> Answer:
    return correct_outcome(correction(job, to, **changes))


def wish(job: ExportJob, **changes: Any) -> Wish:
    made = Wish(
        tenant_id=job.tenant_id,
        replaced_job_id=job.id,
        decided_by=RUTH,
        reason="the partner asked for it",
        answers=replace(FOR_IT, why_nevertheless="nobody can settle it any more"),
        job_id=uuid.uuid4(),
    )
    return replace(made, **changes)


def replacement(job: ExportJob, **changes: Any) -> Replacement:
    return create_replacement(wish(job, **changes), using="api")
