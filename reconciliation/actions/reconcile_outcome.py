"""Settle what the machine could not know: OutcomeUnknown → Completed, or Failed as not delivered.

Once per attempt, by a named person, with a reference to the evidence and a reason (reference: Recovery,
reconciliation). The verdict on the evidence proposes; a person who decides against it, or where it proposes
nothing, says why, and that is kept in the event.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from exports import boundary
from exports.crashpoints import reach
from exports.evidence import Conclusion
from exports.models import ExportJob
from exports.states import EventKind, Status, Written
from exports.verdicts import Start, facts_of
from reconciliation.actions.settling import (
    GIVE_UP_SECONDS,
    NotFound,
    SettledBy,
    Unsettled,
    case_of,
    find,
    proposal_for,
    settled_by,
)
from reconciliation.managers import Settlements

if TYPE_CHECKING:
    from uuid import UUID

    from exports.verdicts import Verdict

logger = logging.getLogger(__name__)

PROPOSED = {Conclusion.COMPLETED: Status.COMPLETED, Conclusion.NOT_DELIVERED: Status.FAILED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a person decided about the attempt they looked at. `why_against` is theirs, for deciding otherwise."""

    tenant_id: UUID
    job_id: UUID
    attempt_id: UUID
    resolution: Status
    decided_by: str
    evidence_ref: str
    reason: str
    why_against: str = ""


@dataclass(frozen=True, slots=True)
class Reconciled:
    """The outcome is recorded as decided."""

    resolution: Status


@dataclass(frozen=True, slots=True)
class AlreadySettled:
    """It is no longer an unknown outcome of that attempt; `by` says who settled it, when somebody did."""

    status: Status
    by: SettledBy | None


@dataclass(frozen=True, slots=True)
class AgainstTheEvidence:
    """The verdict proposes something else, or nothing: the person has to say why. Nothing was written."""

    proposal: Verdict | None


@dataclass(frozen=True, slots=True)
class SettleOriginalFirst:
    """The file that was found is the original's: its record is settled first. Nothing was written."""

    original_job_id: UUID


Reconciliation = Reconciled | AlreadySettled | AgainstTheEvidence | SettleOriginalFirst | NotFound | Unsettled


def reconcile_outcome(decision: Decision, *, using: str = "reconciliation") -> Reconciliation:
    """Record a person's decision about an unknown outcome; definite database errors pass through."""
    assert decision.resolution in PROPOSED.values(), "the screen offers two decisions"  # noqa: S101 - a view's bug
    job = find(decision.tenant_id, decision.job_id, using)
    if job is None:
        return NotFound()
    if job.status != Status.OUTCOME_UNKNOWN or job.attempt_id != decision.attempt_id:
        return AlreadySettled(Status(job.status), _by(decision, using))
    objection = _objection(decision, job, using)
    return objection if objection is not None else _settle(decision, job, using)


def _objection(decision: Decision, job: ExportJob, using: str) -> AgainstTheEvidence | SettleOriginalFirst | None:
    original = _unsettled_original(job, using)
    if original is not None:
        return SettleOriginalFirst(original)
    proposal = proposal_for(job, using)
    agrees = proposal is not None and PROPOSED.get(proposal.conclusion) is decision.resolution
    return None if agrees or decision.why_against.strip() else AgainstTheEvidence(proposal)


def _unsettled_original(job: ExportJob, using: str) -> UUID | None:
    """Return the original whose own file this replacement found, while its record does not say Completed."""
    case = case_of(job, using)
    if job.replaces_job_id is None or case is None or facts_of(case).start is not Start.ORIGINALS:
        return None
    original = ExportJob.objects.using(using).filter(id=job.replaces_job_id, tenant_id=job.tenant_id)
    return None if original.filter(status=Status.COMPLETED).exists() else job.replaces_job_id


def _settle(decision: Decision, job: ExportJob, using: str) -> Reconciliation:
    stated = replace(decision, reason=_full_reason(decision, job, using))
    unknown: Reconciliation = Unsettled()
    return boundary.settle(
        lambda: _write(stated, using),
        lambda: _recorded(stated, using),
        unknown=unknown,
        give_up_at=time.monotonic() + GIVE_UP_SECONDS,
        using=using,
    )


def _full_reason(decision: Decision, job: ExportJob, using: str) -> str:
    """Keep with the reason what the evidence proposed, and why the person decided otherwise."""
    proposal = proposal_for(job, using)
    proposed = "nothing" if proposal is None else f"{proposal.conclusion} ({proposal.reason})"
    against = f"; decided against it because: {decision.why_against.strip()}" if decision.why_against.strip() else ""
    return f"{decision.reason} [proposed: {proposed}{against}]"


def _write(decision: Decision, using: str) -> Reconciliation:
    reach("reconcile.before")
    written = Settlements(using).reconcile(
        tenant_id=decision.tenant_id,
        job_id=decision.job_id,
        attempt_id=decision.attempt_id,
        resolution=decision.resolution,
        reconciled_by=decision.decided_by,
        evidence_ref=decision.evidence_ref,
        reason=decision.reason,
    )
    reach("reconcile.after")
    if written is not Written.APPLIED:
        return _recorded(decision, using)
    ids = {"job_id": str(decision.job_id), "tenant_id": str(decision.tenant_id)}
    ids |= {"attempt_id": str(decision.attempt_id), "actor": decision.decided_by}
    logger.info("outcome_reconciled", extra=ids | {"to": decision.resolution})
    return Reconciled(decision.resolution)


def _recorded(decision: Decision, using: str) -> Reconciliation:
    """Say from the row and its one event what was recorded, and by whom."""
    by = _by(decision, using)
    if by is not None and by.by == decision.decided_by and (by.words or "").endswith(decision.reason):
        return Reconciled(decision.resolution)
    status = ExportJob.objects.using(using).values_list("status", flat=True).get(id=decision.job_id)
    return Unsettled() if status == Status.OUTCOME_UNKNOWN else AlreadySettled(Status(status), by)


def _by(decision: Decision, using: str) -> SettledBy | None:
    return settled_by(decision.job_id, decision.attempt_id, EventKind.RECONCILED, using)
