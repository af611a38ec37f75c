"""Which hold applies to one queued export now, and whether a person let its guarded version go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.db.models import Q, QuerySet

from exports.models import Hold
from exports.models.base import ClockTimestamp
from exports.states import HoldCause

if TYPE_CHECKING:
    from exports.models import ExportJob


def open_holds(using: str) -> QuerySet[Hold]:
    """Return the holds that hold now."""
    return Hold.objects.using(using).filter(Q(until=None) | Q(until__gt=ClockTimestamp()), ended_at=None)


# Written out, because it is asked for every wake-up and composing it would cost more than answering it.
HOLD_ON: Final = """
    SELECT * FROM holds
    WHERE ended_at IS NULL AND (until IS NULL OR until > clock_timestamp()) AND cause NOT IN (%(cap)s, %(rate)s)
      AND (destination_id = %(destination_id)s
           OR tenant_id = %(tenant_id)s AND destination_id IS NULL AND job_id IS NULL
           OR job_id = %(job_id)s AND version = %(version)s
           OR num_nonnulls(destination_id, tenant_id, job_id) = 0)
    LIMIT 1"""


def hold_on(job: ExportJob, using: str = "default") -> Hold | None:
    """Return a hold that keeps this export from being claimed; caps and pace are judged under the gate instead."""
    asked = {"job_id": job.id, "version": job.version, "cap": HoldCause.CAP.value, "rate": HoldCause.RATE.value}
    place = {"destination_id": job.destination_id, "tenant_id": job.tenant_id}
    found: Hold | None = next(iter(Hold.objects.using(using).raw(HOLD_ON, asked | place)), None)
    return found


def was_let_go_on(job: ExportJob, using: str = "default") -> bool:
    """Whether a person ended the guard's hold on this version of the export, with a reason."""
    guards = Hold.objects.using(using).filter(job_id=job.id, version=job.version, cause=HoldCause.GUARD)
    return guards.exclude(ended_at=None).exists()
