"""What attempts that are over left at partners: files under our own temporary names, where the contract lets us.

A worker that was killed, a connection that was lost and a partner that refused to remove a name leave contact data
where nobody reads it. Partners are visited now and then: one listing of the temporary directory, and of what it
shows only names that an attempt of this very destination was given are taken away, each exactly, when that attempt
is over and long silent. Nothing here knows a final name. What cannot be removed stays listed, so the next visit
tries again. (Contract: `retention.may_remove_leftovers`, `leftover_age_seconds`.)
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, fields
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Final

from django.db.models import Q

from exports.contracts import Contract, ContractError
from exports.destinations.naming import attempt_in
from exports.destinations.protocol import CouldNotConnect
from exports.evidence import Accepted, Refused
from exports.holds.reading import open_holds
from exports.models import Destination, ExportAttemptEvent, ExportJob
from exports.models.base import ClockTimestamp
from exports.observability import counters
from exports.states import EventKind, HoldCause, Status
from exports.worker.partner import open_unpooled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from uuid import UUID

    from exports.destinations.protocol import Session

logger = logging.getLogger(__name__)

NEEDS_ITS_FILE: Final = (Status.RUNNING, Status.DELIVERING, Status.OUTCOME_UNKNOWN)
"""While an attempt lives its name is its own; and while nobody knows what happened, what lies there may tell."""

EVERY_SECONDS: Final = 3_600.0
"""Between two visits of one partner by one process: what is left is a day old at least, so an hour is no matter."""

VISIT_SECONDS: Final = 60.0
"""A whole visit, after which its connection is broken: it holds up nobody's delivery, and no run for long."""

BUDGET_SECONDS: Final = 120.0
"""After this a run begins no further visit; those that are left are visited first by the next one."""

MOST_REMOVED: Final = 200
"""Names removed at one visit; each is a request, and a partner has others to serve."""


@dataclass(frozen=True, slots=True)
class Cleared:
    """What a run did at partners. `kept` names are ours and stay for now; `failed` ones the partner did not remove.

    `unreached` partners were not to be seen at all: their next visit is as far away as anybody's.
    """

    visited: int = 0
    removed: int = 0
    kept: int = 0
    failed: int = 0
    unreached: int = 0

    def __add__(self, other: Cleared) -> Cleared:
        """Return the sums."""
        return Cleared(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(Cleared)))


@dataclass(frozen=True, slots=True)
class Left:
    """One of our temporary names as it stands at a partner."""

    name: str
    delivery_key: str
    attempt_id: UUID


_visited_at: dict[UUID, float] = {}
"""When this process last visited each partner, monotonic."""


def run(using: str = "default", every_seconds: float = EVERY_SECONDS) -> Cleared:
    """Visit the partners that are due, the longest unvisited first, and take away what may be taken."""
    began, cleared = time.monotonic(), Cleared()
    for destination in sorted(_due(using, every_seconds), key=lambda each: _visited_at.get(each.id, 0.0)):
        if time.monotonic() - began >= BUDGET_SECONDS:
            break
        _visited_at[destination.id] = time.monotonic()
        cleared += visit(destination, using)
    return cleared


def visit(destination: Destination, using: str = "default") -> Cleared:
    """List what is ours at one partner and remove what nobody needs; returns for every failure of the world."""
    try:
        contract = _contract(destination)
        session = open_unpooled(contract, using)
    except (ContractError, CouldNotConnect) as error:
        logger.info("partner_not_visited", extra={"destination_id": str(destination.id), "words": str(error)})
        return Cleared(unreached=1)
    try:
        session.set_deadline(VISIT_SECONDS)
        return _clear(destination, contract, session, using)
    finally:
        session.close()


def _due(using: str, every_seconds: float) -> Iterator[Destination]:
    """Yield partners whose contract allows it, that nobody holds back, and that were not visited lately."""
    allowed = Destination.objects.using(using).filter(
        is_enabled=True, active_contract__terms__retention__may_remove_leftovers=True
    )
    for destination in allowed.select_related("active_contract"):
        last = _visited_at.get(destination.id)
        rested = last is None or time.monotonic() - last >= every_seconds
        if rested and not _is_held(destination, using):
            yield destination


def _is_held(destination: Destination, using: str) -> bool:
    """Whether people hold everything, this tenant or this partner back: then nothing of ours goes there at all."""
    everything = Q(destination=None, tenant=None, job_id=None)
    here = Q(destination=destination) | Q(tenant_id=destination.tenant_id, destination=None, job_id=None)
    held = open_holds(using).exclude(cause__in=(HoldCause.CAP, HoldCause.RATE))
    return held.filter(everything | here).exists()


def _contract(destination: Destination) -> Contract:
    assert destination.active_contract is not None, "it was found by its active contract"  # noqa: S101 - the query's
    return Contract.from_json(destination.active_contract.terms)


def _clear(destination: Destination, contract: Contract, session: Session, using: str) -> Cleared:
    names = session.temporaries()
    if names is None:
        logger.info("partner_not_visited", extra={"destination_id": str(destination.id), "words": "no listing"})
        return Cleared(unreached=1)
    ours = [Left(name, *owner) for name in names if (owner := attempt_in(contract, name)) is not None]
    jobs = _over(destination, ours, contract.retention.leftover_age_seconds, using)
    going = islice((left for left in ours if left.attempt_id in jobs), MOST_REMOVED)
    removed = [_remove(session, left, jobs[left.attempt_id], destination) for left in going]
    return Cleared(visited=1, removed=sum(removed), failed=len(removed) - sum(removed), kept=len(ours) - len(removed))


def _over(destination: Destination, ours: Iterable[Left], age_seconds: int, using: str) -> dict[UUID, UUID]:
    """Return the attempts of this destination that need their names no more, each with its export.

    An attempt that the database does not know under this key and partner is not ours, whatever its name says.
    """
    by_key = {left.delivery_key: left for left in ours}
    jobs = ExportJob.objects.using(using).filter(
        tenant_id=destination.tenant_id, destination_id=destination.id, delivery_key__in=list(by_key)
    )
    wanted = {(left.delivery_key, left.attempt_id) for left in ours}
    return dict(_ended(list(jobs), wanted, age_seconds, using))


def _ended(
    jobs: list[ExportJob], wanted: set[tuple[str, UUID]], age_seconds: int, using: str
) -> Iterator[tuple[UUID, UUID]]:
    by_id = {job.id: job for job in jobs}
    for job_id, attempt_id in _silent(list(by_id), [attempt for _, attempt in wanted], age_seconds, using):
        job = by_id[job_id]
        is_current = job.attempt_id == attempt_id and job.status in NEEDS_ITS_FILE
        if (job.delivery_key, attempt_id) in wanted and not is_current:
            yield attempt_id, job_id


def _silent(job_ids: list[UUID], attempt_ids: list[UUID], age_seconds: int, using: str) -> set[tuple[UUID, UUID]]:
    """Return (export, attempt) of those claimed here of which nothing was recorded for so long."""
    events = ExportAttemptEvent.objects.using(using).filter(job_id__in=job_ids, attempt_id__in=attempt_ids)
    lately = ClockTimestamp() - timedelta(seconds=age_seconds)
    claimed = events.filter(kind=EventKind.CLAIMED).values_list("job_id", "attempt_id")
    return set(claimed) - set(events.filter(recorded_at__gt=lately).values_list("job_id", "attempt_id"))


def _remove(session: Session, left: Left, job_id: UUID, destination: Destination) -> bool:
    """Remove one name; what the partner does not remove is logged, and listed again at the next visit."""
    answer = session.remove(left.name)
    facts = {
        "job_id": str(job_id),
        "attempt_id": str(left.attempt_id),
        "destination_id": str(destination.id),
    }
    if isinstance(answer, Accepted):
        counters.scavenged_at_partners.inc()
        logger.warning("partner_leftover_removed", extra=facts)
        return True
    words = f"status {answer.code}: {answer.text}" if isinstance(answer, Refused) else answer.text
    logger.warning("partner_leftover_kept", extra=facts | {"words": words})
    return False
