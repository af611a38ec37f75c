"""Which deliveries wait for an acknowledgment, a bounded page of each destination's at a time.

An unknown outcome waits as long as it is unknown: a late acknowledgment is kept. A completed one without hash or
acknowledgment waits until its contract's deadline is over. Everything is judged by the contract version that the
attempt was claimed under.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from django.db.models import DateTimeField, ExpressionWrapper, OuterRef, Q, Subquery, Value

from exports import dossier
from exports.contracts import AcknowledgmentKind, Contract
from exports.evidence import Acknowledged, Bound, Conclusion, Outcome, Present, ProbeSighting, Proof, ReadBack
from exports.models import DestinationContract, ExportAttemptEvent, ExportJob
from exports.models.base import ClockTimestamp
from exports.states import EventKind, Status
from reconciliation.acknowledgments.forms import forms_of
from reconciliation.candidates import evidence_of
from reconciliation.resolving import read_contract

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime
    from uuid import UUID

    from exports.evidence import Evidence, ExpectedFile

logger = logging.getLogger(__name__)

MOST_A_VISIT: Final = 100
"""Deliveries of one status looked for in one visit: seconds of a partner's time, and the next visit goes on."""

PAGE: Final = 200
MOST_PAGES: Final = 5
"""Completed exports read to find those that lack proof, at most a thousand a visit: mostly all of them have it."""

MOST_OF_ONE_ATTEMPT: Final = 10
"""Acknowledgments kept of one attempt: two is what a contract provides for, more is a partner that writes anew."""

VISITS_PAST_DUE: Final = 2
"""A completed delivery is still looked for this many visits after its deadline, so that one finds it overdue."""

_PROVING: Final = frozenset({Proof.HASH, Proof.ACKNOWLEDGMENT})
_KINDS: Final = [kind.value for kind in AcknowledgmentKind if kind is not AcknowledgmentKind.NONE]

Position = tuple["datetime", "UUID"]
"""Behind which export the next page of a destination begins: when it was authorized, and its id."""


@dataclass(frozen=True, slots=True)
class Place:
    """An enabled destination that acknowledges, or did: its contract versions that provide for it, by their id."""

    destination_id: UUID
    active_id: UUID | None
    contracts: Mapping[str, Contract]

    @property
    def poll_seconds(self) -> int:
        """How often this partner may be looked at: as its active contract says, else the shortest of the earlier."""
        active = self.contracts.get(str(self.active_id))
        chosen = self.contracts.values() if active is None else [active]
        return min(each.verification.acknowledgment.poll_seconds for each in chosen)

    @property
    def reach_seconds(self) -> int:
        """How long after its authorization a completed delivery can still be waiting, by any of the contracts."""
        return max(_reach_seconds(each) for each in self.contracts.values())


@dataclass(frozen=True, slots=True)
class Awaited:
    """A delivery that lacks proof, with what is known of it."""

    job: ExportJob
    attempt_id: UUID
    contract: Contract
    expected: ExpectedFile
    evidence: tuple[Evidence, ...]
    age_seconds: float

    @property
    def is_unknown(self) -> bool:
        """Whether its outcome is unknown, so that an acknowledgment may settle it."""
        return self.job.status == Status.OUTCOME_UNKNOWN

    @property
    def is_overdue(self) -> bool:
        """Whether the partner should have acknowledged by now and has not said anything."""
        late = self.age_seconds > self.contract.verification.acknowledgment.due_seconds
        return late and not any(isinstance(each, Acknowledged) for each in self.evidence)

    @property
    def is_sought(self) -> bool:
        """Whether it is still looked for."""
        kept = sum(isinstance(each, Acknowledged) for each in self.evidence)
        return kept < MOST_OF_ONE_ATTEMPT and (self.is_unknown or self._lacks_proof_in_time)

    @property
    def _lacks_proof_in_time(self) -> bool:
        return self.age_seconds <= _reach_seconds(self.contract) and not has_proof(self.evidence, self.expected)


class Contracts:
    """Contract versions read once in the life of a process: none of them ever changes."""

    def __init__(self) -> None:
        self._read: dict[str, Contract | None] = {}

    def places(self, using: str) -> list[Place]:
        """Return every enabled destination with a version that provides for acknowledgments."""
        rows = DestinationContract.objects.using(using).filter(
            terms__verification__acknowledgment__kind__in=_KINDS, destination__is_enabled=True
        )
        found: dict[UUID, tuple[UUID | None, dict[str, Contract]]] = {}
        columns = ("id", "destination_id", "destination__active_contract_id")
        for contract_id, destination_id, active_id in rows.order_by("destination_id").values_list(*columns):
            contract = self._contract(str(contract_id), using)
            if contract is not None:
                found.setdefault(destination_id, (active_id, {}))[1][str(contract_id)] = contract
        return [Place(destination_id, *rest) for destination_id, rest in found.items()]

    def _contract(self, contract_id: str, using: str) -> Contract | None:
        if contract_id not in self._read:
            contract = self._read[contract_id] = read_contract(contract_id, using)
            if contract is not None and not forms_of(contract, contract.final_name("key")):
                logger.warning("acknowledgment_cannot_be_told", extra={"contract_id": contract_id})
        return self._read[contract_id]


def has_proof(evidence: tuple[Evidence, ...], expected: ExpectedFile) -> bool:
    """Whether a hash or an acknowledgment already proves this attempt's delivery."""
    return any(_proves(each, expected) for each in evidence)


def _proves(record: Evidence, expected: ExpectedFile) -> bool:
    match record:
        case Acknowledged(bound=Bound.ATTEMPT, positive=True):
            return True
        case Outcome(conclusion=Conclusion.COMPLETED, proof=proof):
            return proof in _PROVING
        case ReadBack(sighting=Present(sha256=str(sha256))) | ProbeSighting(sighting=Present(sha256=str(sha256))):
            return sha256.lower() == expected.sha256.lower()
        case _:
            return False


def unknown_at(place: Place, after: Position | None, using: str) -> tuple[list[Awaited], Position | None]:
    """Return the next deliveries of unknown outcome, and where the page after them begins (None: anew)."""
    jobs = _page(place, Status.OUTCOME_UNKNOWN, after, MOST_A_VISIT, using)
    found = [each for each in _awaited(place, jobs, using) if each.is_sought]
    return found, _position(jobs, MOST_A_VISIT)


def completed_at(place: Place, after: Position | None, using: str) -> tuple[list[Awaited], Position | None]:
    """Return the next completed deliveries that lack proof within their deadline, and where the rest begins."""
    found: list[Awaited] = []
    for _ in range(MOST_PAGES):
        jobs = _page(place, Status.COMPLETED, after, PAGE, using)
        for each in _awaited(place, jobs, using):
            found += [each] if each.is_sought else []
            if len(found) == MOST_A_VISIT:
                return found, _behind_job(each.job)
        after = _position(jobs, PAGE)
        if after is None:
            break
    return found, after


def _position(jobs: list[Any], full: int) -> Position | None:
    return _behind_job(jobs[-1]) if len(jobs) == full else None


def _behind_job(job: ExportJob) -> Position:
    assert job.delivery_authorized_at is not None  # noqa: S101 - the page asks for it
    return job.delivery_authorized_at, job.id


def _page(place: Place, status: Status, after: Position | None, most: int, using: str) -> list[Any]:
    claimed = ExportAttemptEvent.objects.filter(
        job_id=OuterRef("id"), attempt_id=OuterRef("attempt_id"), kind=EventKind.CLAIMED
    )
    rows = ExportJob.objects.using(using).filter(destination_id=place.destination_id, status=status)
    rows = rows.filter(_behind(after), delivery_authorized_at__isnull=False)
    if status is Status.COMPLETED:
        rows = rows.filter(delivery_authorized_at__gt=_ago(place.reach_seconds))
    rows = rows.annotate(seen_at=ClockTimestamp(), contract_id=Subquery(claimed.values("detail")[:1]))
    return list(rows.order_by("delivery_authorized_at", "id")[:most])


def _behind(after: Position | None) -> Q:
    if after is None:
        return Q()
    at, job_id = after
    return Q(delivery_authorized_at__gte=at) & (Q(delivery_authorized_at__gt=at) | Q(id__gt=job_id))


def _ago(seconds: int) -> Any:
    moment = ClockTimestamp() - Value(timedelta(seconds=seconds))
    return ExpressionWrapper(moment, output_field=DateTimeField())


def _awaited(place: Place, jobs: list[Any], using: str) -> Iterator[Awaited]:
    evidence = evidence_of(jobs, using)
    for job in jobs:
        contract, expected = place.contracts.get(str(job.contract_id)), dossier.expected_of(job)
        if contract is not None and expected is not None:
            age = (job.seen_at - job.delivery_authorized_at).total_seconds()
            known = tuple(evidence.get(job.attempt_id, ()))
            yield Awaited(job, job.attempt_id, contract, expected, known, age)


def _reach_seconds(contract: Contract) -> int:
    told = contract.verification.acknowledgment
    return told.due_seconds + VISITS_PAST_DUE * told.poll_seconds
