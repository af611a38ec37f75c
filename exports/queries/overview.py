"""How everything stands now, within somebody's reach: capped, and from indexes, at the same cost at any size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exports.models import ExportJob, OutboxMessage
from exports.queries.holds import open_within
from exports.queries.worklist import MOST_FILTERED, needing_attention
from exports.states import Status

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from exports.access import Reach
    from exports.models import Hold

CAP = 50_000
"""Exports of a status that are counted; beyond it the overview says "or more"."""
MOST_WAKE_UPS = 1_000
"""Wake-ups not yet handed over that are counted, the oldest; a thousand say that nothing is handed over."""
MOST_HOLDS = 50
"""Open holds that are shown, the latest."""
OPEN = (Status.QUEUED, Status.RUNNING, Status.DELIVERING, Status.OUTCOME_UNKNOWN)


@dataclass(frozen=True, slots=True)
class Number:
    """A count, and whether it was cut: then it is so many or more."""

    value: int
    is_cut: bool = False

    @classmethod
    def capped(cls, value: int, cap: int) -> Number:
        """Return a count that went no further than `cap`."""
        return cls(value, value >= cap)

    def __str__(self) -> str:
        return f"{self.value:,}{' or more' if self.is_cut else ''}"


@dataclass(frozen=True, slots=True)
class Standing:
    """What is on its way, what waits for a person, and what holds the rest back."""

    open: dict[Status, Number]
    attention: Number
    oldest: tuple[UUID, datetime] | None
    wake_ups: Number
    lag_since: datetime | None
    holds: list[Hold]


def standing(reach: Reach) -> Standing:
    """Read it in a number of queries that does not depend on how much there is."""
    return Standing(
        open={status: _count(reach, status) for status in OPEN},
        attention=_attention(reach),
        oldest=_oldest(reach),
        wake_ups=_wake_ups(reach),
        lag_since=_lag_since(),
        holds=list(open_within(reach).order_by("-created_at", "-id")[:MOST_HOLDS]),
    )


def _count(reach: Reach, status: Status) -> Number:
    rows = reach.narrow(ExportJob.objects.filter(status=status)).order_by()
    return Number.capped(rows.values("status")[:CAP].count(), CAP)


def _attention(reach: Reach) -> Number:
    rows = needing_attention(reach.narrow(ExportJob.objects.all()), reach).order_by()
    return Number.capped(rows.values("id")[:MOST_FILTERED].count(), MOST_FILTERED)


def _oldest(reach: Reach) -> tuple[UUID, datetime] | None:
    queued = reach.narrow(ExportJob.objects.filter(status=Status.QUEUED)).order_by("created_at", "id")
    return queued.values_list("id", "created_at").first()


def _wake_ups(reach: Reach) -> Number:
    """Count the wake-ups of exports within reach among the oldest that wait for the broker."""
    waiting = OutboxMessage.objects.filter(published_at=None).order_by("created_at").values("job_id")[:MOST_WAKE_UPS]
    if reach.tenant_ids is None:
        return Number.capped(waiting.count(), MOST_WAKE_UPS)
    return Number(reach.narrow(ExportJob.objects.filter(id__in=waiting)).order_by().count())


def _lag_since() -> datetime | None:
    """Return since when the oldest wake-up waits, whosever it is: the dispatcher serves all."""
    waiting = OutboxMessage.objects.filter(published_at=None).order_by("created_at")
    return waiting.values_list("created_at", flat=True).first()
