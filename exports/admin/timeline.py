"""An export's whole life as one list, in the order things happened: what, who, and the raw record beneath."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from exports.admin.evidence_words import say
from exports.admin.formats import Moment, duration, moment
from exports.evidence import shown
from exports.states import CancellationOutcome, EventKind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from exports.models import (
        CancellationRequest,
        DestinationContract,
        ExportAttemptEvent,
        ExportRejection,
        OutboxMessage,
        TermsChange,
    )
    from exports.queries.history import History

SAME_STATEMENT_SECONDS = 1.0
"""Clocks read within one statement differ by less, unless it waited for a lock."""

LONGEST_RAW = 8_000
"""Characters of a raw record on the page; the API has all of it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened."""

    when: Moment
    tone: str
    title: str
    who: str = ""
    note: str = ""
    attempt: int | None = None
    raw: str = ""


@dataclass(frozen=True)
class Telling:
    """What turning records into entries needs to know beside each record."""

    history: History
    contracts: Mapping[str, DestinationContract]
    now: datetime
    attempts: dict[str, int] = field(default_factory=dict)

    def number(self, attempt_id: object) -> int:
        """Return which attempt this is, in the order in which they appear."""
        return self.attempts.setdefault(str(attempt_id), len(self.attempts) + 1)

    def moment(self, at: datetime) -> Moment:
        """Return a time as seen from when the page was made."""
        return moment(at, self.now)


def timeline_of(history: History, contracts: Mapping[str, DestinationContract], now: datetime) -> list[Entry]:
    """Return every record of an export as an entry, oldest first."""
    telling = Telling(history, contracts, now)
    entries = [
        _created(telling),
        *(_event(event, telling) for event in history.events),
        *(_terms(change, telling) for change in history.terms),
        *(_wake_up(message, telling) for message in history.wake_ups),
        *(_click(click, telling) for click in history.clicks),
        *(_rejection(rejection, telling) for rejection in history.rejections),
    ]
    # Stable: what was written at one instant stays in the order above, cause before consequence.
    return sorted(entries, key=lambda entry: entry.when.at)


def _created(telling: Telling) -> Entry:
    job, request = telling.history.job, telling.history.request
    asked = f"To {_destination(telling)}." if request else ""
    title = "Created" if job.replaces_job_id is None else "Created as a replacement"
    note = job.replacement_reason or asked
    return Entry(telling.moment(job.created_at), "grey", title, job.created_by, note)


def _destination(telling: Telling) -> str:
    job, terms = telling.history.job, telling.history.terms
    first = terms[0].from_destination if terms and terms[0].version == 2 else job.destination  # noqa: PLR2004 - the first edit makes version 2
    return str(first.name)


def _wake_up(message: OutboxMessage, telling: Telling) -> Entry:
    if message.published_at is None:
        note = "Not yet handed to the broker."
    else:
        waited = (message.published_at - message.created_at).total_seconds()
        note = f"Handed to the broker after {duration(waited)}."
    if not _has_cause(message, telling.history):
        note = f"Written by the sweeper, or because a hold ended. {note}"
    raw = _pretty({"message_id": str(message.message_id), "kind": message.kind})
    return Entry(telling.moment(message.created_at), "grey", "Wake-up written", note=note, raw=raw)


def _has_cause(message: OutboxMessage, history: History) -> bool:
    """Tell whether something else recorded of the export wrote it: what does writes it in the same statement."""
    requeued = (event.recorded_at for event in history.events if event.kind == EventKind.REQUEUED_BY_RECOVERY)
    causes = (history.job.created_at, *(change.recorded_at for change in history.terms), *requeued)
    return any(abs((message.created_at - at).total_seconds()) < SAME_STATEMENT_SECONDS for at in causes)


def _terms(change: TermsChange, telling: Telling) -> Entry:
    title = f"Moved from {change.from_destination.name} to {change.to_destination.name}: version {change.version}"
    return Entry(
        telling.moment(change.recorded_at), "blue", title, change.changed_by, change.reason or "No reason given."
    )


def _rejection(rejection: ExportRejection, telling: Telling) -> Entry:
    note = " ".join(str(reason) for reason in rejection.reasons)
    title = f"Refused by policy in version {rejection.version}"
    return Entry(telling.moment(rejection.recorded_at), "grey", title, note=note)


def _click(click: CancellationRequest, telling: Telling) -> Entry:
    outcome = CancellationOutcome(click.outcome)
    raw = _pretty({"request_id": str(click.id), "outcome": click.outcome, "found_status": click.found_status})
    note = f"Reason: {click.reason}" if click.reason else "No reason given."
    return Entry(
        telling.moment(click.recorded_at),
        "amber",
        f"Cancel clicked: {clicked(outcome)}",
        click.requested_by,
        note,
        raw=raw,
    )


def clicked(outcome: CancellationOutcome) -> str:
    """Return what a click on cancel came to, for somebody else than the person who clicked."""
    match outcome:
        case CancellationOutcome.CANCELED_WHILE_QUEUED:
            return "cancelled before it had started; nothing was sent"
        case CancellationOutcome.STOP_REQUESTED:
            return "asked to stop; it stops unless delivery is authorized first"
        case CancellationOutcome.STOP_ALREADY_REQUESTED:
            return "somebody had already asked it to stop"
        case CancellationOutcome.ALREADY_CANCELED:
            return "it had already been cancelled"
        case CancellationOutcome.ALREADY_ENDED:
            return "it had already ended"
        case CancellationOutcome.TOO_LATE:
            return "too late; delivery had been authorized"
        case _:
            assert_never(outcome)


TITLES: Mapping[EventKind, tuple[str, str]] = {
    EventKind.CLAIMED: ("blue", "Claimed by a worker; the file is being prepared"),
    EventKind.DELIVERY_AUTHORIZED: ("blue", "Delivery authorized; it can no longer be stopped"),
    EventKind.STOPPED: ("grey", "Stopped before delivery"),
    EventKind.FAILED: ("red", "Failed before delivery"),
    EventKind.FINISHED: ("blue", "The attempt ended its delivery"),
    EventKind.REQUEUED_BY_RECOVERY: ("amber", "Returned to the queue: its lease had run out"),
    EventKind.STOPPED_BY_RECOVERY: ("grey", "Stopped by recovery: its lease had run out and a stop was requested"),
    EventKind.ATTEMPTS_EXHAUSTED: ("red", "Failed by recovery: its attempts are used up"),
    EventKind.RESOLVED_BY_RECOVERY: ("amber", "Resolved by recovery from the evidence"),
    EventKind.RECONCILED: ("blue", "Reconciled"),
    EventKind.CORRECTED: ("amber", "Corrected"),
    EventKind.DELIVERY_EVIDENCE: ("blue", "Evidence"),
}
RETURNED = "returned"
"""The detail of a requeue whose attempt gave its lease back; it does not count against the cap."""


def _event(event: ExportAttemptEvent, telling: Telling) -> Entry:
    kind = EventKind(event.kind)
    tone, title = TITLES[kind]
    if kind is EventKind.DELIVERY_EVIDENCE:
        title = say(telling.history.evidence[event.id])
    elif kind is EventKind.REQUEUED_BY_RECOVERY and event.detail == RETURNED:
        title = "Returned to the queue: its worker gave it back"
    return Entry(
        when=telling.moment(event.recorded_at),
        tone=tone,
        title=title,
        who=shown(event.worker_id or event.observed_by or ""),
        note=_note(kind, event, telling),
        attempt=telling.number(event.attempt_id),
        raw=_raw(event),
    )


def _note(kind: EventKind, event: ExportAttemptEvent, telling: Telling) -> str:
    if kind is EventKind.DELIVERY_EVIDENCE:
        return ""
    contract = telling.contracts.get(str(event.attempt_id))
    if kind is EventKind.CLAIMED and contract is not None:
        return f"Version {event.version} of the terms, under contract {contract.version} of {contract.destination}."
    return shown(event.detail or "")


def _raw(event: ExportAttemptEvent) -> str:
    return _pretty(
        {
            "id": event.id,
            "attempt_id": str(event.attempt_id),
            "kind": event.kind,
            "version": event.version,
            "worker_id": event.worker_id,
            "observed_by": event.observed_by,
            "detail": _parsed(event.detail),
        }
    )


def _parsed(detail: str | None) -> object:
    if detail is None or len(detail) > LONGEST_RAW:
        return detail
    try:
        return json.loads(detail)
    except (ValueError, RecursionError):
        return detail


def _pretty(record: dict[str, object]) -> str:
    # Escaped beyond ASCII: a stranger's direction marks and control characters stay visible as what they are.
    return json.dumps({name: value for name, value in record.items() if value is not None}, indent=1)[:LONGEST_RAW]
