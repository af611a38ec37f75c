"""What happened within an hour or a day: the sums, and the exports that each sum is made of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, assert_never

from django.db.models import Q, Sum

from exports.models import CancellationRequest, ExportAttemptEvent, ExportRejection, HourlySum
from exports.states import CancellationOutcome, EventKind, Happened

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from exports.access import Reach

HOUR = timedelta(hours=1)
HOURS = 24
"""Hours on the overview, the current one included."""

_FORMAT = "%Y-%m-%dT%H"


@dataclass(frozen=True, slots=True)
class Counted:
    """What is counted, and in which hours: from the first to before the last."""

    what: Happened
    since: datetime
    until: datetime

    @property
    def text(self) -> str:
        """As it stands in an address."""
        return f"{self.what}.{self.since.strftime(_FORMAT)}.{self.until.strftime(_FORMAT)}"


def counted(text: str) -> Counted | None:
    """Read what stands in an address; None when it is nothing that is counted."""
    try:
        what, since, until = text.split(".")
        return Counted(Happened(what), _hour(since), _hour(until))
    except ValueError:
        return None


def _hour(text: str) -> datetime:
    return datetime.strptime(text, _FORMAT).replace(tzinfo=UTC)


def hours_until(now: datetime) -> list[datetime]:
    """Return the beginnings of the last hours, oldest first, the current one last."""
    current = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return [current - HOUR * ago for ago in range(HOURS - 1, -1, -1)]


def sums_of(reach: Reach, since: datetime) -> dict[tuple[datetime, Happened], int]:
    """Return how much of each kind happened in each hour since, within reach."""
    rows = reach.narrow(HourlySum.objects.filter(hour__gte=since))
    found = rows.order_by().values_list("hour", "what").annotate(total=Sum("count"))
    return {(hour.astimezone(UTC), Happened(what)): total for hour, what, total in found}


def among(rows: QuerySet[Any], asked: Counted) -> QuerySet[Any]:
    """Keep the exports that one sum is made of, whatever became of them since."""
    within: dict[str, Any] = {"recorded_at__gte": asked.since, "recorded_at__lt": asked.until}
    match asked.what:
        case Happened.CREATED:
            return rows.filter(created_at__gte=asked.since, created_at__lt=asked.until)
        case Happened.CANCELED:
            clicks = CancellationRequest.objects.filter(**within, outcome=CancellationOutcome.CANCELED_WHILE_QUEUED)
            return rows.filter(id__in=clicks.values("job_id"))
        case Happened.REJECTED:
            return rows.filter(id__in=ExportRejection.objects.filter(**within).values("job_id"))
        case Happened.COMPLETED | Happened.OUTCOME_UNKNOWN | Happened.FAILED | Happened.STOPPED:
            return rows.filter(id__in=ExportAttemptEvent.objects.filter(_ended(asked.what), **within).values("job_id"))
        case never:
            assert_never(never)


_BEFORE_DELIVERY = {
    Happened.FAILED: (EventKind.FAILED, EventKind.ATTEMPTS_EXHAUSTED),
    Happened.STOPPED: (EventKind.STOPPED, EventKind.STOPPED_BY_RECOVERY),
}


def _ended(what: Happened) -> Q:
    """Return by which events attempts ended so; how a delivery ended stands first in its last event."""
    deliveries = Q(kind__in=(EventKind.FINISHED, EventKind.RESOLVED_BY_RECOVERY), detail__startswith=what.value)
    return deliveries | Q(kind__in=_BEFORE_DELIVERY.get(what, ()))
