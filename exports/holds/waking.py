"""The waker: what ends a hold, or frees a slot, writes the wake-ups (I5). It never raises a sweep count.

Run every second on the maintenance queue; a worker also feeds its destination when its attempt ends. Two at once
are harmless: rows that one holds the other passes over, and a wake-up too many only repeats policy's evaluation.
"""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import close_old_connections, connections
from django.db.models import F, Q

from exports import sql
from exports.contracts import Contract
from exports.contracts import Limits as ContractLimits
from exports.crashpoints import reach
from exports.holds.slots import free_slots
from exports.models import DestinationContract, ExportJob, Hold
from exports.models.base import ClockTimestamp
from exports.observability import counters
from exports.states import HoldCause, Status

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID


logger = logging.getLogger(__name__)

IN_FLIGHT = timedelta(seconds=2)
"""A wake-up written this recently may still be on its way; the waker does not repeat it."""
STILL_LOOKED_AT = timedelta(seconds=10)
"""An ended hold is looked at for this long, so that an export whose row somebody held is not passed over for good."""
BATCH = 500
"""At most so many wake-ups a round: a resumed destination with 100,000 exports never fills the broker at once."""
WAKER = "the waker"


@dataclass(frozen=True, slots=True)
class Woken:
    """What one round did."""

    woken: int = 0
    released: int = 0


def run() -> Woken:
    """Wake what may go on now, and log it."""
    close_old_connections()
    done = run_once(BATCH)
    if done != Woken():
        logger.info("woken_after_hold", extra=asdict(done))
    return done


def run_once(limit: int, using: str = "default") -> Woken:
    """End holds that are due, and wake at most `limit` exports of holds that ended or slots that freed."""
    _end_due(using)
    woken = released = 0
    for hold in _unreleased(using):
        count = _wake(hold, limit - woken, using)
        woken += count
        released += 0 if count else _release(hold, using)
    return Woken(woken, released)


def feed(destination_id: UUID, limits: ContractLimits, using: str) -> int:
    """Wake as many waiting exports of a destination as it has free slots; called when an attempt there ends."""
    slots = free_slots(destination_id, limits, using)
    return _wake_waiting(destination_id, slots.free or 0, _now(using), None, using)


def _end_due(using: str) -> None:
    due = Hold.objects.using(using).filter(ended_at=None, until__lte=ClockTimestamp())
    due.update(ended_at=F("until"), ended_by=WAKER, ended_reason="Its time was over.")


def _unreleased(using: str) -> list[Hold]:
    """Return ended holds whose wake-ups are not all written, and full destinations, oldest first."""
    full = Q(ended_at=None, cause__in=(HoldCause.CAP, HoldCause.RATE))
    holds = Hold.objects.using(using).filter(full | Q(ended_at__isnull=False), released_at=None)
    return list(holds.order_by("created_at"))


def _wake(hold: Hold, most: int, using: str) -> int:
    """Wake what this hold held, destination by destination, at most its free slots."""
    now = _now(using)
    before = min(hold.ended_at or now, now - IN_FLIGHT)
    woken = 0
    for destination_id in _waiting_at(hold, using):
        slots = free_slots(destination_id, _limits_of(destination_id, using), using)
        batch = most - woken if slots.free is None else min(most - woken, slots.free)
        woken += _wake_waiting(destination_id, batch, before, hold.job_id, using)
    return woken


def _waiting_at(hold: Hold, using: str) -> list[UUID]:
    """Return the destinations where exports of this hold's scope wait."""
    if hold.destination_id is not None:
        return [hold.destination_id]
    waiting = ExportJob.objects.using(using).filter(status=Status.QUEUED)
    if hold.job_id is not None:
        waiting = waiting.filter(id=hold.job_id)
    elif hold.tenant_id is not None:
        waiting = waiting.filter(tenant_id=hold.tenant_id)
    return list(waiting.order_by().values_list("destination_id", flat=True).distinct())


def _wake_waiting(destination_id: UUID, batch: int, before: datetime, job_id: UUID | None, using: str) -> int:
    if batch <= 0:
        return 0
    reach("wake.before")
    parameters = {"destination_id": destination_id, "batch": batch, "woken_before": before, "job_id": job_id}
    woken = sql.fetch_all("wake_waiting", using, parameters)
    reach("wake.after")
    counters.woken.inc(len(woken))
    return len(woken)


def _release(hold: Hold, using: str) -> int:
    """Close a hold under which nothing waits any more; whether it was closed now."""
    holds = Hold.objects.using(using).filter(id=hold.id, released_at=None)
    if hold.ended_at is None:
        waiting = ExportJob.objects.using(using).filter(status=Status.QUEUED, destination_id=hold.destination_id)
        if waiting.exists():
            return 0
        reason = "Nothing waits there any more."
        return holds.update(
            ended_at=ClockTimestamp(), released_at=ClockTimestamp(), ended_by=WAKER, ended_reason=reason
        )
    if hold.job_id is None and _still_to_wake(hold, using):
        return 0
    return holds.filter(ended_at__lt=ClockTimestamp() - STILL_LOOKED_AT).update(released_at=ClockTimestamp())


def _still_to_wake(hold: Hold, using: str) -> bool:
    """Whether a destination of this hold has exports that only its own bounds keep waiting."""
    return any(
        free_slots(destination_id, _limits_of(destination_id, using), using).are_taken
        for destination_id in _waiting_at(hold, using)
        if ExportJob.objects.using(using)
        .filter(destination_id=destination_id, status=Status.QUEUED, woken_at__lt=hold.ended_at)
        .exists()
    )


def _limits_of(destination_id: UUID, using: str) -> ContractLimits:
    """Return the bounds of the destination's active contract; the widest there are when it has none."""
    active = DestinationContract.objects.using(using).filter(destination__active_contract_id=F("id"))
    contract = active.filter(destination_id=destination_id).first()
    return ContractLimits() if contract is None else Contract.from_json(contract.terms).limits


def _now(using: str) -> datetime:
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
    return now
