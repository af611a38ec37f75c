"""Reading probes: the newest of a destination, how far it is, and what it found."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum, unique
from typing import TYPE_CHECKING

from django.db.models import Q

from exports.contracts import Probed, PublishMode
from exports.models import DestinationContract, ProbeRequest
from exports.models.base import ClockTimestamp
from exports.probing.judging import Proposal, objections_to, propose
from exports.probing.report import Report, ReportError
from exports.probing.trying import CLEAN_UP_SECONDS, RUN_SECONDS

if TYPE_CHECKING:
    from uuid import UUID

    from django.db.models import QuerySet

_TAKEN_WITHIN = timedelta(minutes=10)
"""A request that no worker took for so long is not taken any more: whoever asked has left, and can ask again."""

_ENDED_WITHIN = timedelta(seconds=2 * (RUN_SECONDS + CLEAN_UP_SECONDS))
"""A run without a result for so long has lost its worker: connecting and storing add less than the bound itself."""


@unique
class State(StrEnum):
    """How far a probe is. A lost one left no result, and perhaps files in the scratch folder; ask again."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Probe:
    """A request and what became of it; `report` is None until it is finished, or where it cannot be read."""

    request: ProbeRequest
    state: State
    report: Report | None

    @property
    def contract(self) -> DestinationContract:
        """The version that was tried."""
        return self.request.contract

    @property
    def probed(self) -> Probed | None:
        """What a contract that adopts the proposal says of this probe; None where it found nothing to adopt."""
        if self.report is None or self.report.trouble:
            return None
        return Probed(
            rename_refuses_existing=not objections_to(PublishMode.RENAME_NOREPLACE, self.report),
            link_is_honest=not objections_to(PublishMode.HARDLINK_REMOVE, self.report),
            exclusive_create_refuses=not objections_to(PublishMode.DIRECT_WRITE, self.report),
            server_version=self.report.server,
            probed_at=self.request.result.finished_at,
        )

    @property
    def proposal(self) -> Proposal | None:
        """The publish mode it proposes and why; None until it is finished."""
        return None if self.report is None else propose(self.report)


def newest_contract(destination_id: UUID, using: str = "default") -> DestinationContract | None:
    """Return the destination's newest contract version: the one that would become active next."""
    versions = DestinationContract.objects.using(using).filter(destination_id=destination_id)
    return versions.order_by("-version").first()


def latest(destination_id: UUID, using: str = "default") -> Probe | None:
    """Return the destination's newest probe, whatever its state and the version it tried."""
    request = _requests(using).filter(destination_id=destination_id).order_by("-requested_at").first()
    return None if request is None else _probe(request)


def latest_finished(destination_id: UUID, using: str = "default") -> Probe | None:
    """Return the destination's newest probe that has a result, whatever version it tried."""
    finished = _requests(using).filter(destination_id=destination_id, result__isnull=False)
    request = finished.order_by("-requested_at").first()
    return None if request is None else _probe(request)


def finished_for(contract: DestinationContract, using: str = "default") -> Probe | None:
    """Return the newest finished probe of this version, or of its destination where this version has none."""
    own = _requests(using).filter(contract=contract, destination_id=contract.destination_id, result__isnull=False)
    request = own.order_by("-requested_at").first()
    return latest_finished(contract.destination_id, using) if request is None else _probe(request)


def waiting(using: str = "default") -> QuerySet[ProbeRequest]:
    """Return the requests that a worker may take, oldest first."""
    recent = Q(requested_at__gt=ClockTimestamp() - _TAKEN_WITHIN)
    return ProbeRequest.objects.using(using).filter(recent, run__isnull=True).order_by("requested_at")


def under_way(using: str = "default") -> int:
    """Count the probes that run now."""
    requests = ProbeRequest.objects.using(using).filter(requested_at__gt=ClockTimestamp() - 2 * _TAKEN_WITHIN)
    return requests.filter(run__began_at__gt=ClockTimestamp() - _ENDED_WITHIN, result__isnull=True).count()


def _requests(using: str) -> QuerySet[ProbeRequest]:
    requests = ProbeRequest.objects.using(using).select_related("contract", "run", "result")
    return requests.annotate(
        overdue=Q(run=None, requested_at__lt=ClockTimestamp() - _TAKEN_WITHIN)
        | Q(run__began_at__lt=ClockTimestamp() - _ENDED_WITHIN)
    )


def _probe(request: ProbeRequest) -> Probe:
    if hasattr(request, "result"):
        return Probe(request, State.FINISHED, _report(request.result.report))
    if request.overdue:  # type: ignore[attr-defined] # annotated by the query
        return Probe(request, State.LOST, None)
    return Probe(request, State.RUNNING if hasattr(request, "run") else State.WAITING, None)


def _report(raw: object) -> Report | None:
    try:
        return Report.from_json(raw)
    except ReportError:
        return None
