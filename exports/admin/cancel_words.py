"""What a click on cancel is answered, from what was recorded and never from what was hoped for (I9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from django.utils.html import format_html

from exports.admin.formats import ago
from exports.admin.frame import Told
from exports.states import CancellationOutcome, Status

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from django.utils.safestring import SafeString

    from exports.admin.words import Words
    from exports.models import CancellationRequest
    from exports.queries.history import History

BUSY = "We could not tell. Nothing was recorded. Try again: the same click is used."
BUSY_UNKNOWN = "We could not tell, not even whether your click was recorded. Try again: the same click is used."
NOT_FOUND = "There is no such export here."
REUSED = "This request id belongs to another request. Nothing was done."

CANCELED = "Cancelled. It had not started; nothing was sent."
STOP_REQUESTED = (
    "Your request to stop is recorded. The export was already being prepared; it stops unless delivery is authorized"
    " first. This page follows it."
)

ENDED_AS: Mapping[Status, str] = {
    Status.REJECTED: "Refused by policy. Nothing was sent.",
    Status.STOPPED: "Stopped before delivery. Nothing was sent.",
    Status.FAILED: "Failed.",
}
"""How it had ended when the click found it, where the record has been corrected since."""

BUTTON: Mapping[CancellationOutcome, str] = {
    CancellationOutcome.CANCELED_WHILE_QUEUED: "Cancel this export",
    CancellationOutcome.STOP_REQUESTED: "Ask it to stop",
    CancellationOutcome.STOP_ALREADY_REQUESTED: "Ask it to stop as well",
    CancellationOutcome.ALREADY_CANCELED: "Record my request all the same",
    CancellationOutcome.ALREADY_ENDED: "Record my request all the same",
    CancellationOutcome.TOO_LATE: "Record my request all the same",
}
"""What the button says: what a click would most likely come to, and no more."""


def told_of(click: CancellationRequest, history: History, words: Words) -> Told:
    """Return the recorded answer of a click; `words` are the export's state now."""
    outcome = CancellationOutcome(click.outcome)
    match outcome:
        case CancellationOutcome.CANCELED_WHILE_QUEUED:
            return Told("grey", CANCELED)
        case CancellationOutcome.STOP_REQUESTED:
            return Told("amber", STOP_REQUESTED)
        case CancellationOutcome.STOP_ALREADY_REQUESTED:
            return Told("amber", _asked_before(history.stop))
        case CancellationOutcome.ALREADY_CANCELED:
            return Told("grey", _cancelled_before(history.cancellation))
        case CancellationOutcome.ALREADY_ENDED:
            return Told("grey", _ended_before(click, history, words))
        case CancellationOutcome.TOO_LATE:
            return Told("red", _too_late(click.found_delivery_authorized_at, words))
        case _:
            assert_never(outcome)


def _asked_before(first: CancellationRequest | None) -> SafeString:
    if first is None:
        return format_html("{}", "It had already been asked to stop. Yours is recorded too.")
    return format_html("{} asked it to stop {}. Yours is recorded too.", first.requested_by, ago(first.recorded_at))


def _cancelled_before(first: CancellationRequest | None) -> SafeString:
    if first is None:
        return format_html("{}", "It had already been cancelled.")
    return format_html("It had already been cancelled by {} {}.", first.requested_by, ago(first.recorded_at))


def _ended_before(click: CancellationRequest, history: History, words: Words) -> SafeString:
    found = Status(click.found_status)
    then = words.text if history.job.status == found else ENDED_AS[found]
    return format_html("It had already ended: {}", then)


def _too_late(authorized_at: datetime | None, words: Words) -> SafeString:
    when = format_html(" at about {}", ago(authorized_at)) if authorized_at else ""
    return format_html(
        "Too late to stop: delivery was authorized{}. What is known of the delivery: {}", when, words.text
    )
