"""End a hold with a reason: resume, end the freeze, let a guarded version go on; the waker wakes what waited (I5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import DEFAULT_DB_ALIAS

from exports.crashpoints import reach
from exports.models import Hold
from exports.models.base import ClockTimestamp
from exports.states import HoldCause

if TYPE_CHECKING:
    from uuid import UUID

ENDED_BY_PEOPLE = frozenset({HoldCause.PAUSED, HoldCause.FROZEN, HoldCause.GUARD, HoldCause.UNREACHABLE})
"""A full destination is not emptied by a decision: the machine would find it full again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """One person's decision about one hold."""

    hold_id: UUID
    ended_by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Ended:
    """It has ended by this decision; what it held is woken within seconds."""

    hold: Hold


@dataclass(frozen=True, slots=True)
class EndedBefore:
    """It had ended; `hold` says when, by whom and why."""

    hold: Hold


@dataclass(frozen=True, slots=True)
class NotByPeople:
    """There is no such hold, or it is one that only the machine ends; nothing was written."""


def end_hold(ending: Ending, *, using: str = DEFAULT_DB_ALIAS) -> Ended | EndedBefore | NotByPeople:
    """End an open hold; the caller has checked that this person may. Database errors pass through."""
    holds = Hold.objects.using(using).filter(id=ending.hold_id, cause__in=ENDED_BY_PEOPLE)
    told = {"ended_by": ending.ended_by, "ended_reason": ending.reason}
    holds.filter(ended_at=None).update(ended_at=ClockTimestamp(), **told)
    reach("hold.end.after")
    now = holds.first()
    if now is None:
        return NotByPeople()
    mine = (now.ended_by, now.ended_reason) == (ending.ended_by, ending.reason)
    return Ended(now) if mine else EndedBefore(now)
