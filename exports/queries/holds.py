"""Why a queued export waits without a wake-up (I5): the open holds, found for a whole page at once."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.db.models import Q

from exports.models import Hold
from exports.models.base import ClockTimestamp
from exports.states import Status

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from uuid import UUID

    from django.db.models import QuerySet

    from exports.access import Reach
    from exports.models import ExportJob


class Scope(StrEnum):
    """How much a hold holds."""

    EXPORT = "export"
    DESTINATION = "destination"
    TENANT = "tenant"
    EVERYTHING = "everything"


@dataclass(frozen=True, slots=True)
class Held:
    """A queued export's hold: how much it covers, why, by whom, since when, and until when if that is known."""

    id: UUID
    scope: Scope
    reason: str
    created_by: str
    since: datetime
    until: datetime | None


def held_of(jobs: Iterable[ExportJob]) -> dict[UUID, Held]:
    """Return the hold of each queued export that has one, in one query for all of them.

    Where several apply, the narrowest is named: it is the one that somebody who asks can do most about.
    """
    queued = [job for job in jobs if job.status == Status.QUEUED]
    if not queued:
        return {}
    holds = list(_open_holds(queued))
    found = ((job.id, _narrowest(job, holds)) for job in queued)
    return {job_id: _as_held(hold) for job_id, hold in found if hold is not None}


def _open_holds(jobs: list[ExportJob]) -> Any:
    everything = Q(destination=None, tenant=None, job_id=None)
    destinations = Q(destination_id__in={job.destination_id for job in jobs}, job_id=None)
    tenants = Q(tenant_id__in={job.tenant_id for job in jobs}, destination=None, job_id=None)
    exports = Q(job_id__in={job.id for job in jobs})
    still = Q(until=None) | Q(until__gt=ClockTimestamp())
    return Hold.objects.filter(everything | destinations | tenants | exports, still, ended_at=None)


def open_within(reach: Reach) -> QuerySet[Hold]:
    """Return the holds in force on tenants within reach, and those on everything, which hold everybody's exports."""
    still = Q(until=None) | Q(until__gt=ClockTimestamp())
    return within(Hold.objects.select_related("tenant", "destination"), reach).filter(still, ended_at=None)


def within(holds: QuerySet[Hold], reach: Reach) -> QuerySet[Hold]:
    """Keep the holds on tenants within reach, and those on everything."""
    if reach.tenant_ids is None:
        return holds
    ids = sorted(reach.tenant_ids)
    everything = Q(tenant=None, destination=None)
    return holds.filter(everything | Q(tenant_id__in=ids) | Q(destination__tenant_id__in=ids))


def _narrowest(job: ExportJob, holds: list[Hold]) -> Hold | None:
    wider = [hold for hold in holds if hold.job_id is None]
    for among, applies in (
        (holds, lambda hold: (hold.job_id, hold.version) == (job.id, job.version)),
        (wider, lambda hold: hold.destination_id == job.destination_id),
        (wider, lambda hold: hold.destination_id is None and hold.tenant_id == job.tenant_id),
        (wider, lambda hold: hold.destination_id is None and hold.tenant_id is None),
    ):
        applying = [hold for hold in among if applies(hold)]
        if applying:
            return min(applying, key=lambda hold: hold.created_at)
    return None


def _as_held(hold: Hold) -> Held:
    return Held(hold.id, scope_of(hold), hold.reason, hold.created_by, hold.created_at, hold.until)


def scope_of(hold: Hold) -> Scope:
    """Return how much a hold holds."""
    if hold.job_id is not None:
        return Scope.EXPORT
    if hold.destination_id is not None:
        return Scope.DESTINATION
    return Scope.TENANT if hold.tenant_id is not None else Scope.EVERYTHING
