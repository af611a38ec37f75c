"""Which attempts recovery may look at: those whose lease has expired. The scan only nominates (I1).

Keyset pages over (lease_expires_at, id): a page starts behind the last row of the one before, whatever became
of its rows, so rows that are skipped or have to wait never stand in the way of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Q

from exports.models import ExportJob
from exports.models.base import ClockTimestamp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from uuid import UUID

    from exports.states import Status

PAGE = 500
"""Rows read at once: enough that the reads cost little beside the writes, few enough to stay fresh."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One expired attempt as the scan saw it; every statement asks again."""

    job_id: UUID
    attempt_id: UUID
    destination_id: UUID
    stop_requested: bool
    lease_expires_at: datetime
    seen_at: datetime

    @property
    def expired_seconds(self) -> float:
        """How long its lease had been over when it was seen, by the database's clock."""
        return (self.seen_at - self.lease_expires_at).total_seconds()


def expired(status: Status, using: str = "default", page: int = PAGE) -> Iterator[Candidate]:
    """Yield every expired attempt of this status, the longest expired first; each row at most once a call."""
    after: Candidate | None = None
    while True:
        found = list(_page(status, after, using, page))
        yield from found
        if len(found) < page:
            return
        after = found[-1]


def _page(status: Status, after: Candidate | None, using: str, page: int) -> Iterator[Candidate]:
    rows = ExportJob.objects.using(using).filter(status=status, lease_expires_at__lt=ClockTimestamp())
    if after is not None:
        behind = Q(lease_expires_at__gt=after.lease_expires_at) | Q(id__gt=after.job_id)
        rows = rows.filter(behind, lease_expires_at__gte=after.lease_expires_at)
    columns = ("id", "attempt_id", "destination_id", "stop_request_id", "lease_expires_at", "seen_at")
    rows = rows.annotate(seen_at=ClockTimestamp()).order_by("lease_expires_at", "id")
    for job_id, attempt_id, destination_id, stop_id, expires_at, seen_at in rows.values_list(*columns)[:page]:
        yield Candidate(job_id, attempt_id, destination_id, stop_id is not None, expires_at, seen_at)
