"""What reconciling and correcting share: the record looked at, the verdict on its evidence, who settled it before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exports import dossier
from exports.contracts import Contract, ContractError
from exports.models import ExportAttemptEvent, ExportJob
from exports.verdicts import Asker, judge

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from exports.states import EventKind
    from exports.verdicts import Case, Verdict

GIVE_UP_SECONDS = 5.0
"""How long a definite "not now" is tried again: a person waits for this answer."""


@dataclass(frozen=True, slots=True)
class NotFound:
    """This tenant has no such export."""


@dataclass(frozen=True, slots=True)
class Unsettled:
    """Neither the write nor the row answered; the page shows what was recorded when it is opened again."""


@dataclass(frozen=True, slots=True)
class SettledBy:
    """Who settled an attempt, when, and in which words."""

    by: str | None
    at: datetime
    words: str | None


def find(tenant_id: UUID, job_id: UUID, using: str) -> ExportJob | None:
    """Return this tenant's export, or None for a missing and a foreign one alike."""
    job: ExportJob | None = ExportJob.objects.using(using).filter(id=job_id, tenant_id=tenant_id).first()
    return job


def case_of(job: ExportJob, using: str) -> Case | None:
    """Return the case of the job's attempt under the contract it was claimed with; None when it has none."""
    row = None if job.attempt_id is None else dossier.contract_of(job.id, job.attempt_id, using)
    try:
        contract = None if row is None else Contract.from_json(row.terms)
    except ContractError:
        contract = None
    return None if contract is None else dossier.case_of(job, contract, using)


def proposal_for(job: ExportJob, using: str) -> Verdict | None:
    """Return what the evidence proves to reconciliation staff; None where nothing can be judged."""
    case = case_of(job, using)
    return None if case is None else judge(case, Asker.RECONCILER)


def settled_by(job_id: UUID, attempt_id: UUID | None, kind: EventKind, using: str) -> SettledBy | None:
    """Return who wrote the attempt's one event of this kind."""
    event = ExportAttemptEvent.objects.using(using).filter(job_id=job_id, attempt_id=attempt_id, kind=kind).first()
    return None if event is None else SettledBy(event.observed_by, event.recorded_at, event.detail)
