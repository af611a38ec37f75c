"""A replacement of an original whose outcome nobody knew, and the original settled as Completed after all."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from exports.models import ExportJob
from exports.states import Status, Written
from reconciliation.managers import Settlements
from tests.faults.boundaries import WORKER_ID, delivering
from tests.faults.world import BY, now_of

if TYPE_CHECKING:
    from tests.faults.world import World


def a_replacement(world: World) -> ExportJob:
    """Return a queued replacement."""
    original, job_id = _unknown(world), uuid.uuid4()
    written = ExportJob.objects.db_manager("api").create_replacement(
        job_id=job_id,
        tenant_id=world.tenant.id,
        original_job_id=original.id,
        created_by=BY,
        replacement_reason="nobody knows",
        overwrite_agreement_ref=None,
    )
    assert written is Written.APPLIED
    return now_of(job_id)


def _unknown(world: World) -> ExportJob:
    original = delivering(world)
    assert original.attempt_id is not None
    written = ExportJob.objects.db_manager("worker").finish_delivery(
        job_id=original.id,
        attempt_id=original.attempt_id,
        worker_id=WORKER_ID,
        outcome=Status.OUTCOME_UNKNOWN,
        reason=None,
        detail="OutcomeUnknown: no answer",
    )
    assert written is Written.APPLIED
    return original


def complete_original_of(job: ExportJob) -> None:
    """Settle a replacement's original as Completed, as somebody from reconciliation does."""
    assert job.replaces_job_id is not None
    original = now_of(job.replaces_job_id)
    assert original.attempt_id is not None
    written = Settlements("reconciliation").reconcile(
        tenant_id=original.tenant_id,
        job_id=original.id,
        attempt_id=original.attempt_id,
        resolution=Status.COMPLETED,
        reconciled_by=BY,
        evidence_ref="a letter",
        reason="it had arrived",
    )
    assert written is Written.APPLIED
