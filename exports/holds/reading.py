"""Which hold applies to one queued export now, and whether a person let its guarded version go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q, QuerySet

from exports.models import Hold
from exports.models.base import ClockTimestamp
from exports.states import HoldCause

if TYPE_CHECKING:
    from exports.models import ExportJob


def open_holds(using: str) -> QuerySet[Hold]:
    """Return the holds that hold now."""
    return Hold.objects.using(using).filter(Q(until=None) | Q(until__gt=ClockTimestamp()), ended_at=None)


def hold_on(job: ExportJob, using: str = "default") -> Hold | None:
    """Return a hold that keeps this export from being claimed; caps and pace are judged under the gate instead."""
    everything = Q(destination=None, tenant=None, job_id=None)
    applies = (
        everything
        | Q(destination_id=job.destination_id)
        | Q(tenant_id=job.tenant_id, destination=None, job_id=None)
        | Q(job_id=job.id, version=job.version)
    )
    return open_holds(using).exclude(cause__in=(HoldCause.CAP, HoldCause.RATE)).filter(applies).first()


def was_let_go_on(job: ExportJob, using: str = "default") -> bool:
    """Whether a person ended the guard's hold on this version of the export, with a reason."""
    guards = Hold.objects.using(using).filter(job_id=job.id, version=job.version, cause=HoldCause.GUARD)
    return guards.exclude(ended_at=None).exists()
