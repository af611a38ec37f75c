"""Everything that waits for a person, oldest first: unknown outcomes, taken names, contradictions, sleepers, guards.

Each kind is read by itself, bounded, in a number of queries that does not grow with what is found. What a person
has looked at and cannot change leaves the list by a document added to its attempt.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, F, Max, OuterRef, Q

from exports import evidence as seen
from exports.models import ExportAttemptEvent, ExportJob, Hold
from exports.queries.jobs import visible
from exports.states import EventKind, FailureReason, HoldCause, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime
    from uuid import UUID

    from django.db.models import QuerySet

    from exports.access import Reach

    Contradicts = Callable[[ExportJob, UUID, seen.Evidence], bool]

MOST = 100
"""Exports of each kind on the list, the oldest; a longer list is not worked through by reading it."""
MOST_FILTERED = 1_000
"""Exports that the overview counts, and held files that the list's filter finds."""
SWEPT_OFTEN = 3
"""An export that the sweeper has woken more often than this is not merely unlucky: something is wrong there."""
LOOKED_THROUGH = 50_000
"""Late evidence is looked for among so many records, the newest: no index can tell what came late."""
MOST_EVENTS = 5_000
"""Records read to say what is missing; an attempt has about ten."""


class Why(StrEnum):
    """Why an export waits for a person."""

    UNKNOWN = "unknown"
    OCCUPIED = "occupied"
    LATE = "late"
    SWEPT = "swept"
    GUARDED = "guarded"


@dataclass(frozen=True, slots=True)
class Waiting:
    """One export that waits: why, since when, what is recorded of its attempt, and the hold or late record if any."""

    why: Why
    job: ExportJob
    since: datetime
    evidence: tuple[seen.Evidence, ...] = ()
    late: seen.Evidence | None = None
    hold: Hold | None = None


def needing_attention(rows: QuerySet[Any], reach: Reach) -> QuerySet[Any]:
    """Keep the exports that wait for a person by what their own rows say; late evidence is only on the worklist.

    The first three kinds are what ix_x_export_jobs_attention holds, in its order.
    """
    waits = Q(status=Status.OUTCOME_UNKNOWN) | _OCCUPIED | _SLEEPING
    guarded = [waiting.job.id for waiting in _guarded(reach, MOST_FILTERED)]
    if guarded:
        waits |= Q(id__in=guarded)
    # Asked for first: inside of the alternatives, documents would be looked for among all events there are.
    noted = list(reach.narrow(ExportJob.objects.filter(_OCCUPIED, _noted())).values_list("id", flat=True))
    return rows.filter(waits).exclude(id__in=noted)


def worklist(reach: Reach, contradicts: Contradicts) -> list[Waiting]:
    """Return what waits within reach, oldest first.

    `contradicts` says whether a record that came late speaks against what is recorded: of the export, by the attempt.
    """
    settled = list(chain(_unknown(reach), _occupied(reach)))
    found = chain(_with_evidence(settled), _late(reach, contradicts), _swept(reach), _guarded(reach))
    return sorted(found, key=lambda waiting: waiting.since)


_OCCUPIED = Q(status=Status.FAILED, failure_reason=FailureReason.FINAL_NAME_OCCUPIED)
_SLEEPING = Q(status=Status.QUEUED, sweep_count__gt=SWEPT_OFTEN)


def _unknown(reach: Reach) -> Iterable[ExportJob]:
    return visible(reach).filter(status=Status.OUTCOME_UNKNOWN).order_by("created_at")[:MOST]


def _occupied(reach: Reach) -> Iterable[ExportJob]:
    return visible(reach).filter(_OCCUPIED).exclude(_noted()).order_by("created_at")[:MOST]


def _noted() -> Exists:
    """Whether a person has put a document beside the attempt: they have looked, and there is no more to do."""
    documents = ExportAttemptEvent.objects.filter(kind=EventKind.DELIVERY_EVIDENCE, observed_by__startswith="user:")
    ours = documents.filter(job_id=OuterRef("id"), attempt_id=OuterRef("attempt_id"))
    return Exists(ours.filter(detail__contains='"kind":"document"'))


def _with_evidence(jobs: list[ExportJob]) -> Iterable[Waiting]:
    events = _events_of(jobs)
    for job in jobs:
        ours = events.get((job.id, job.attempt_id), [])
        moves = [event.recorded_at for event in ours if event.kind != EventKind.DELIVERY_EVIDENCE]
        records = tuple(seen.decode(event.detail) for event in ours if event.kind == EventKind.DELIVERY_EVIDENCE)
        why = Why.UNKNOWN if job.status == Status.OUTCOME_UNKNOWN else Why.OCCUPIED
        yield Waiting(why, job, max(moves, default=job.created_at), records)


def _events_of(jobs: list[ExportJob]) -> dict[tuple[UUID, UUID | None], list[ExportAttemptEvent]]:
    """Return the events of these exports' attempts, the newest of them all, each attempt's oldest first."""
    rows = ExportAttemptEvent.objects.filter(job_id__in=[job.id for job in jobs])
    grouped: dict[tuple[UUID, UUID | None], list[ExportAttemptEvent]] = {}
    for event in reversed(rows.order_by("-id")[:MOST_EVENTS]):
        grouped.setdefault((event.job_id, event.attempt_id), []).append(event)
    return grouped


def _late(reach: Reach, contradicts: Contradicts) -> Iterable[Waiting]:
    """Return the first contradiction of each export that no document has answered."""
    latest: dict[UUID, Waiting] = {}
    for event in _came_late(reach):
        record = seen.decode(event.detail)
        if isinstance(record, seen.Document):
            latest.pop(event.job_id, None)
        elif event.job_id not in latest and contradicts(event.job, event.attempt_id, record):
            latest[event.job_id] = Waiting(Why.LATE, event.job, event.recorded_at, late=record)
    return list(latest.values())[:MOST]


def _came_late(reach: Reach) -> Iterable[ExportAttemptEvent]:
    """Return evidence recorded after the last word on its attempt, oldest first."""
    oldest = oldest_looked_at()
    evidence = ExportAttemptEvent.objects.filter(kind=EventKind.DELIVERY_EVIDENCE, id__gt=oldest)
    moves = ExportAttemptEvent.objects.filter(job_id=OuterRef("job_id"), attempt_id=OuterRef("attempt_id")).exclude(
        kind=EventKind.DELIVERY_EVIDENCE
    )
    late = evidence.filter(Exists(_ends(moves)), ~Exists(moves.filter(id__gt=OuterRef("id"))))
    rows = reach.narrow(late.filter(job_id__in=_seen_last(oldest)), "job__tenant_id")
    return rows.select_related("job__tenant", "job__destination").order_by("id")[:MOST_EVENTS]


def _seen_last(oldest: int) -> set[UUID]:
    """Return the exports of whose attempts evidence is the latest record: a few of many, found in one pass."""
    is_evidence = Q(kind=EventKind.DELIVERY_EVIDENCE)
    attempts = ExportAttemptEvent.objects.filter(id__gt=oldest).order_by().values("job_id", "attempt_id")
    seen_last = attempts.annotate(seen=Max("id", filter=is_evidence), moved=Max("id", filter=~is_evidence)).filter(
        Q(moved=None) | Q(seen__gt=F("moved"))
    )
    return set(seen_last.values_list("job_id", flat=True)[:MOST_EVENTS])


def oldest_looked_at() -> int:
    """Return the id that LOOKED_THROUGH records have come after."""
    newest: int = ExportAttemptEvent.objects.order_by("-id").values_list("id", flat=True).first() or 0
    return newest - LOOKED_THROUGH


def _ends(moves: QuerySet[Any]) -> QuerySet[Any]:
    begun = (EventKind.CLAIMED, EventKind.DELIVERY_AUTHORIZED)
    return moves.exclude(kind__in=begun)


def _swept(reach: Reach) -> Iterable[Waiting]:
    sleeping = visible(reach).filter(_SLEEPING).order_by("created_at")[:MOST]
    return [Waiting(Why.SWEPT, job, job.created_at) for job in sleeping]


def _guarded(reach: Reach, most: int = MOST) -> Iterable[Waiting]:
    """Return queued exports whose file looked wrong in the version that they still have."""
    open_guards = reach.narrow(Hold.objects.filter(cause=HoldCause.GUARD, ended_at=None))
    holds = {(hold.job_id, hold.version): hold for hold in open_guards.order_by("created_at")[:most]}
    jobs = visible(reach).filter(id__in=[job_id for job_id, _ in holds], status=Status.QUEUED)
    found = ((job, holds.get((job.id, job.version))) for job in jobs)
    return [Waiting(Why.GUARDED, job, hold.created_at, hold=hold) for job, hold in found if hold is not None]
