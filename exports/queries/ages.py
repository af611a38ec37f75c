"""Since when each export of a page has been what it is, and what was recorded of it last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import OuterRef, Subquery

from exports.models import CancellationRequest, ExportAttemptEvent, ExportJob, ExportRejection
from exports.states import EventKind, Status

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID


@dataclass(frozen=True, slots=True)
class Latest:
    """When the status was reached, and the last event; None for an export that no worker has taken."""

    since: datetime
    event: ExportAttemptEvent | None


def latest_of(
    jobs: list[ExportJob], cancellations: Mapping[tuple[UUID, UUID], CancellationRequest]
) -> dict[UUID, Latest]:
    """Return what is latest of each export, in three queries; `cancellations` are known clicks by tenant and id."""
    ids = _newest_ids(jobs)
    events = ExportAttemptEvent.objects.in_bulk({each for pair in ids.values() for each in pair if each is not None})
    refused = _refused_at(jobs)
    found = {}
    for job in jobs:
        move, last = (None if each is None else events.get(each) for each in ids.get(job.id, (None, None)))
        found[job.id] = Latest(_since(job, move, refused, cancellations), last)
    return found


def _since(
    job: ExportJob,
    move: ExportAttemptEvent | None,
    refused: Mapping[UUID, datetime],
    cancellations: Mapping[tuple[UUID, UUID], CancellationRequest],
) -> datetime:
    moved = job.created_at if move is None else move.recorded_at
    if job.status == Status.REJECTED:
        return refused.get(job.id, moved)
    if job.status == Status.CANCELED and job.cancellation_request_id is not None:
        click = cancellations.get((job.tenant_id, job.cancellation_request_id))
        return moved if click is None else click.recorded_at
    return moved


def _newest_ids(jobs: list[ExportJob]) -> dict[UUID, tuple[int | None, int | None]]:
    """Return the ids of each export's last move and last event; each is the end of an index, however many there are."""
    events = ExportAttemptEvent.objects.filter(job_id=OuterRef("id")).order_by("-id").values("id")
    moves = events.exclude(kind=EventKind.DELIVERY_EVIDENCE)
    rows: Any = ExportJob.objects.filter(id__in=[job.id for job in jobs]).order_by()
    found = rows.annotate(move=Subquery(moves[:1]), last=Subquery(events[:1])).values_list("id", "move", "last")
    return {job_id: (move, last) for job_id, move, last in found}


def _refused_at(jobs: list[ExportJob]) -> dict[UUID, datetime]:
    refused = [job.id for job in jobs if job.status == Status.REJECTED]
    rows = ExportRejection.objects.filter(job_id__in=refused).order_by("version")
    return dict(rows.values_list("job_id", "recorded_at"))
