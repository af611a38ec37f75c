"""Which attempts recovery may look at: those whose lease has expired. The scan only nominates (I1).

Keyset pages over (lease_expires_at, id): a page starts behind the last row of the one before, whatever became
of its rows, so rows that are skipped or have to wait never stand in the way of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import OuterRef, Q, Subquery

from exports.evidence import decode
from exports.models import ExportAttemptEvent, ExportJob
from exports.models.base import ClockTimestamp
from exports.states import EventKind, Status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from uuid import UUID

    from django.db.models import QuerySet

    from exports.evidence import Evidence

PAGE = 500
"""Rows read at once: enough that the reads cost little beside the writes, few enough to stay fresh."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One expired attempt as the scan saw it; every statement asks again.

    `contract_id` is what its Claimed event records: the contract version everything about it is judged by.
    `evidence` is what the attempt had appended by then, oldest first; only a Delivering one has any.
    """

    job: ExportJob
    attempt_id: UUID
    contract_id: str | None
    seen_at: datetime
    evidence: tuple[Evidence, ...] = ()

    @property
    def expired_seconds(self) -> float:
        """How long its lease had been over when it was seen, by the database's clock."""
        assert self.job.lease_expires_at is not None  # noqa: S101 - the scan compares it
        return (self.seen_at - self.job.lease_expires_at).total_seconds()


def expired(status: Status, using: str = "default", page: int = PAGE) -> Iterator[Candidate]:
    """Yield every expired attempt of this status, the longest expired first; each row at most once a call."""
    after: ExportJob | None = None
    while True:
        found = list(page_of(status, after, using, page))
        evidence = evidence_of(found, using) if status is Status.DELIVERING else {}
        for job in found:
            known = tuple(evidence.get(job.attempt_id, ()))
            yield Candidate(job, job.attempt_id, job.contract_id, job.seen_at, known)
        if len(found) < page:
            return
        after = found[-1]


def evidence_of(jobs: list[ExportJob], using: str) -> dict[UUID, list[Evidence]]:
    """Read the evidence of all these current attempts at once, by attempt."""
    events = ExportAttemptEvent.objects.using(using).filter(
        job_id__in=[job.id for job in jobs],
        attempt_id__in=[job.attempt_id for job in jobs],
        kind=EventKind.DELIVERY_EVIDENCE,
    )
    found: dict[UUID, list[Evidence]] = {}
    for attempt_id, detail in events.order_by("id").values_list("attempt_id", "detail"):
        found.setdefault(attempt_id, []).append(decode(detail))
    return found


def page_of(status: Status, after: ExportJob | None, using: str, page: int) -> QuerySet[Any]:
    """Return the query of one page, which the index of leases answers; a test looks at its plan."""
    rows = ExportJob.objects.using(using).filter(status=status, lease_expires_at__lt=ClockTimestamp())
    if after is not None:
        behind = Q(lease_expires_at__gt=after.lease_expires_at) | Q(id__gt=after.id)
        rows = rows.filter(behind, lease_expires_at__gte=after.lease_expires_at)
    claimed = ExportAttemptEvent.objects.filter(
        job_id=OuterRef("id"), attempt_id=OuterRef("attempt_id"), kind=EventKind.CLAIMED
    )
    rows = rows.annotate(seen_at=ClockTimestamp(), contract_id=Subquery(claimed.values("detail")[:1]))
    nominated: QuerySet[Any] = rows.order_by("lease_expires_at", "id")[:page]
    return nominated
