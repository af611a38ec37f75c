"""How long an export was in each phase of its life, and who worked on it; the last one may still go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exports import evidence as seen
from exports.admin.formats import duration
from exports.evidence import shown
from exports.states import EventKind, Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from exports.models import ExportAttemptEvent
    from exports.queries.history import History

WAITING = "Waiting for a worker"
UNDECIDED = "Waiting for somebody's decision"

BEGINS: Mapping[EventKind, str] = {
    EventKind.CLAIMED: "Preparing the file, and reaching the partner",
    EventKind.DELIVERY_AUTHORIZED: "Looking at the final name",
    EventKind.REQUEUED_BY_RECOVERY: WAITING,
}
"""The phase that begins with an event; any other move ends what there was."""

SHOWS: Mapping[type[seen.Evidence], str] = {
    seen.Baseline: "Uploading",
    seen.PublishSent: "Waiting for the final name",
    seen.PublishAnswered: "Looking at what stands there",
    seen.ReadBack: "Concluding",
}
"""The phase that begins with a piece of evidence of the attempt at work."""


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase: its name, how long it took or has taken so far, which attempt it belongs to, and whose."""

    name: str
    took: str
    attempt: int | None
    who: str


@dataclass(frozen=True, slots=True)
class _Begun:
    name: str
    at: datetime
    event: ExportAttemptEvent | None = None


def phases_of(history: History, now: datetime) -> list[Phase]:
    """Return the phases in their order; one that goes on says so."""
    workers = {event.attempt_id: event.worker_id for event in history.events if event.kind == EventKind.CLAIMED}
    found = []
    for begun, until in _spans(history):
        took = duration(((until or now) - begun.at).total_seconds())
        event = begun.event if begun.name not in {WAITING, UNDECIDED} else None
        number = list(workers).index(event.attempt_id) + 1 if event else None
        who = shown(workers[event.attempt_id] or "") if event else ""
        found.append(Phase(begun.name, took if until else f"{took} so far", number, who))
    return found


def _spans(history: History) -> Iterator[tuple[_Begun, datetime | None]]:
    """Yield each phase with its end; None: it goes on."""
    current: _Begun | None = _Begun(WAITING, history.job.created_at)
    at_work = None
    for event in history.events:
        at_work = event.attempt_id if event.kind == EventKind.CLAIMED else at_work
        told, name = _told(event, history) if event.attempt_id == at_work else (False, None)
        if told and current is not None:
            yield current, event.recorded_at
            current = None
        if told and name is not None:
            current = _Begun(name, event.recorded_at, event)
    if current is not None:
        yield current, _ended_without_event(history)


def _told(event: ExportAttemptEvent, history: History) -> tuple[bool, str | None]:
    """Return whether an event ends a phase, and which one it begins."""
    kind = EventKind(event.kind)
    if kind is EventKind.DELIVERY_EVIDENCE:
        name = SHOWS.get(type(history.evidence[event.id]))
        return name is not None, name
    unknown = kind in {EventKind.FINISHED, EventKind.RESOLVED_BY_RECOVERY} and (event.detail or "").startswith(
        Status.OUTCOME_UNKNOWN
    )
    return True, UNDECIDED if unknown else BEGINS.get(kind)


def _ended_without_event(history: History) -> datetime | None:
    """Return when an export ended that no attempt ended: cancelled while it waited, or refused."""
    if history.job.status == Status.CANCELED and history.cancellation is not None:
        return history.cancellation.recorded_at
    if history.job.status == Status.REJECTED and history.rejections:
        return history.rejections[-1].recorded_at
    return None
