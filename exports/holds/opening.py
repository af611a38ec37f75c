"""Holds the machine opens by itself: a full destination, one that nobody answers at, a file that looks wrong."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from exports import sql
from exports.models import Hold
from exports.models.base import ClockTimestamp
from exports.states import HoldCause

if TYPE_CHECKING:
    from exports.models import ExportJob

BACKOFF_SECONDS = (15.0, 900.0)
"""First and longest time a destination that could not be reached is left alone; it doubles in between."""
REMEMBERED = timedelta(hours=1)
"""An outage longer ago than this says nothing about the next one."""
REASONS = {
    HoldCause.CAP: "The destination has as many exports under way as its contract allows.",
    HoldCause.RATE: "The destination has had as many exports in this minute as its contract allows.",
}


def hold_full(job: ExportJob, cause: HoldCause, worker_id: str, using: str) -> None:
    """Record that a destination's slots are taken, so that whoever frees one knows that somebody waits."""
    _open(job, cause, REASONS[cause], worker_id, for_seconds=None, using=using)


def hold_unreachable(job: ExportJob, words: str, worker_id: str, using: str) -> None:
    """Leave a destination alone for a while, longer each time within an hour."""
    first, longest = BACKOFF_SECONDS
    earlier = Hold.objects.using(using).filter(
        destination_id=job.destination_id,
        cause=HoldCause.UNREACHABLE,
        created_at__gt=ClockTimestamp() - REMEMBERED,
    )
    pause = min(longest, first * 2 ** min(earlier.count(), 16))
    _open(job, HoldCause.UNREACHABLE, words, worker_id, for_seconds=pause, using=using)


def hold_guarded(job: ExportJob, words: str, worker_id: str, using: str) -> None:
    """Let this version of one export wait for a person; its file looked wrong."""
    Hold.objects.using(using).create(
        tenant_id=job.tenant_id,
        job_id=job.id,
        version=job.version,
        cause=HoldCause.GUARD,
        reason=words,
        created_by=worker_id,
    )


def _open(
    job: ExportJob, cause: HoldCause, reason: str, worker_id: str, *, for_seconds: float | None, using: str
) -> None:
    sql.fetch_one(
        "open_hold",
        using,
        {
            "tenant_id": job.tenant_id,
            "destination_id": job.destination_id,
            "cause": cause.value,
            "reason": reason,
            "created_by": worker_id,
            "for_seconds": for_seconds,
        },
    )
