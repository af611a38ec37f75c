"""How many more attempts a destination may have now: counted from the job rows, stored nowhere (I5)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Count, Q

from exports import sql
from exports.models import ExportJob
from exports.models.base import ClockTimestamp
from exports.states import HoldCause, Status

if TYPE_CHECKING:
    from uuid import UUID

    from exports.contracts import Limits as ContractLimits

PACE = timedelta(minutes=1)
"""The span over which a contract's rate per minute is judged."""


@dataclass(frozen=True, slots=True)
class Slots:
    """How many attempts may begin now, and which bound of the contract says no more; None where it has none."""

    free: int | None
    bound_by: HoldCause | None = None

    @property
    def are_taken(self) -> bool:
        """Whether nothing may begin now."""
        return self.free is not None and self.free <= 0


UNLIMITED = Slots(free=None)


def is_limited(limits: ContractLimits) -> bool:
    """Whether the contract bounds attempts at all; a destination without bounds pays nothing for those with."""
    return limits.max_running is not None or limits.rate_per_minute is not None


def lock_gate(destination_id: UUID, using: str) -> None:
    """Take the destination's gate until the transaction ends; the count follows in a statement of its own.

    Only so does it see every claim that was committed while the gate was waited for.
    """
    sql.fetch_one("lock_gate", using, {"destination_id": destination_id})


def free_slots(destination_id: UUID, limits: ContractLimits, using: str) -> Slots:
    """Count what is under way and what began within the last minute; the tighter bound decides."""
    if not is_limited(limits):
        return UNLIMITED
    live = Q(status__in=(Status.RUNNING, Status.DELIVERING))
    recent = Q(delivery_authorized_at__gt=ClockTimestamp() - PACE)
    jobs = ExportJob.objects.using(using).filter(live | recent, destination_id=destination_id)
    counted = jobs.aggregate(live=Count("id", filter=live), paced=Count("id"))
    bounds = [
        (bound - taken, cause)
        for bound, taken, cause in (
            (limits.max_running, counted["live"], HoldCause.CAP),
            (limits.rate_per_minute, counted["paced"], HoldCause.RATE),
        )
        if bound is not None
    ]
    free, cause = min(bounds)
    return Slots(max(0, free), cause)
