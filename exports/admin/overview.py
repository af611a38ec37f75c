"""The overview: is anything stuck, who is affected, since when, and what to open first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils import timezone

from exports.admin.base import reach
from exports.admin.day import Day, day_of
from exports.admin.formats import Moment, duration
from exports.admin.frame import job_url
from exports.admin.hold_words import CAUSES, named
from exports.conf import limits
from exports.observability.readiness import Part, parts
from exports.queries.overview import Standing, standing
from exports.states import HoldCause, Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from django.http import HttpRequest

    from exports.models import Hold
    from exports.queries.overview import Number

LAG_SECONDS = 60.0
"""A wake-up is handed over within a second; one that waits a minute says that the dispatcher does not get on."""

LIST = "admin:exports_exportjob_changelist"

CARDS: Mapping[Status, tuple[str, str, str]] = {
    Status.QUEUED: ("○", "grey", "Waiting"),
    Status.RUNNING: ("◔", "blue", "Being prepared"),
    Status.DELIVERING: ("◑", "blue", "Being delivered"),
    Status.OUTCOME_UNKNOWN: ("?", "amber", "Not known whether delivered"),
}


@dataclass(frozen=True, slots=True)
class Card:
    """One number, with its mark, its words, and the list it counts."""

    mark: str
    tone: str
    words: str
    number: Number
    address: str


@dataclass(frozen=True, slots=True)
class Urgent:
    """Something to open first: what is wrong, and where to look."""

    sentence: str
    address: str
    link: str


@dataclass(frozen=True, slots=True)
class Seen:
    """A part of the machinery: when it was last seen to work, and whether that is recent enough."""

    name: str
    words: str
    is_well: bool
    is_late: bool


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything on the page."""

    urgent: list[Urgent]
    cards: list[Card]
    oldest: tuple[str, Moment] | None
    seen: list[Seen]
    wake_ups: Number
    lag: str
    holds: list[tuple[Hold, str, str, Moment, str]]
    day: Day
    now: Moment


def overview(request: HttpRequest) -> Overview:
    """Read and word it for this person, in a number of queries that does not grow."""
    now = timezone.now()
    mine = reach(request)
    found, machinery = standing(mine), parts()
    lag_seconds = 0.0 if found.lag_since is None else (now - found.lag_since).total_seconds()
    return Overview(
        urgent=[*_urgent(found, now), *_unwell(machinery, lag_seconds)],
        cards=_cards(found),
        oldest=(job_url(found.oldest[0]), Moment(found.oldest[1], now)) if found.oldest else None,
        seen=[_seen(part) for part in machinery],
        wake_ups=found.wake_ups,
        lag=duration(lag_seconds) if found.lag_since else "none waits",
        holds=[_held(hold, now) for hold in found.holds],
        day=day_of(mine, now),
        now=Moment(now, now),
    )


def _cards(found: Standing) -> list[Card]:
    address = reverse(LIST)
    cards = [
        Card(mark, tone, words, found.open[status], f"{address}?status={status}")
        for status, (mark, tone, words) in CARDS.items()
    ]
    tone = "red" if found.attention.value else "grey"
    return [*cards, Card("!", tone, "Needs attention", found.attention, f"{address}?attention=yes")]


def _urgent(found: Standing, now: datetime) -> Iterator[Urgent]:
    """Say what of the exports wants a person."""
    count = found.attention
    if count.value:
        verb = "export waits" if count.value == 1 else "exports wait"
        yield Urgent(f"{count} {verb} for a person.", reverse("admin:worklist"), "Open the worklist")
    if found.oldest is not None:
        job_id, since = found.oldest
        waited = (now - since).total_seconds()
        if waited > limits().sweep_after_seconds and not found.holds:
            sentence = f"The oldest export has been waiting for {duration(waited)}, and nothing is held back."
            yield Urgent(sentence, job_url(job_id), "Open it")


def _unwell(machinery: list[Part], lag_seconds: float) -> Iterator[Urgent]:
    """Say what of the machinery does not work."""
    for part in machinery:
        if not part.is_well:
            yield Urgent(f"{_name(part).capitalize()}: {_age(part)}.", "#machinery", "See the machinery")
    if lag_seconds > LAG_SECONDS:
        address = reverse("admin:exports_outboxmessage_changelist")
        yield Urgent(f"A wake-up has waited {duration(lag_seconds)} for the broker.", address, "See the wake-ups")


def _seen(part: Part) -> Seen:
    is_late = part.age_seconds is not None and not part.is_well
    return Seen(_name(part), _age(part), part.is_well, is_late)


def _name(part: Part) -> str:
    return part.name if part.name in {"worker", "dispatcher", "beat"} else f"queue {part.name}"


def _age(part: Part) -> str:
    if part.age_seconds is None:
        return "not seen"
    return f"last seen {duration(part.age_seconds)} ago"


def _held(hold: Hold, now: datetime) -> tuple[Hold, str, str, Moment, str]:
    address = reverse("admin:exports_hold_change", args=[hold.id])
    return hold, named(hold), CAUSES[HoldCause(hold.cause)], Moment(hold.created_at, now), address


def overview_context(request: HttpRequest) -> dict[str, Any]:
    """Return what the page's template shows; nothing for whoever may not see exports."""
    return {"overview": overview(request)} if request.user.has_perm("exports.view_exportjob") else {}
