"""What a hold means, in words, and which person may end it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.actions.end_hold import ENDED_BY_PEOPLE
from exports.admin.base import reach
from exports.queries.holds import Scope, scope_of
from exports.states import HoldCause

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.http import HttpRequest

    from exports.models import Hold

CAUSES: Mapping[HoldCause, str] = {
    HoldCause.PAUSED: "paused by a person",
    HoldCause.FROZEN: "frozen by a person",
    HoldCause.CAP: "as many under way as its contract allows",
    HoldCause.RATE: "as many in this minute as its contract allows",
    HoldCause.UNREACHABLE: "nobody answered there",
    HoldCause.GUARD: "the file looked wrong",
}

ENDING: Mapping[HoldCause, str] = {
    HoldCause.PAUSED: "Resume",
    HoldCause.FROZEN: "End the freeze",
    HoldCause.UNREACHABLE: "Try it again now",
    HoldCause.GUARD: "Let it go on",
}
"""What ending a hold is called, for those that people end."""


def named(hold: Hold) -> str:
    """Return what a hold holds."""
    match scope_of(hold):
        case Scope.EXPORT:
            return f"export {hold.job_id}, version {hold.version}"
        case Scope.DESTINATION:
            return f"destination {hold.destination}"
        case Scope.TENANT:
            return f"tenant {hold.tenant}"
        case Scope.EVERYTHING:
            return "everything"


def may_end(request: HttpRequest, hold: Hold) -> bool:
    """Tell whether this person may end this hold now: a guard's is an operator's business, the rest administrators'."""
    cause = HoldCause(hold.cause)
    if hold.ended_at is not None or cause not in ENDED_BY_PEOPLE:
        return False
    needed = "exports.release_guard" if cause is HoldCause.GUARD else "exports.change_hold"
    return request.user.has_perm(needed) and covers(request, hold)


def covers(request: HttpRequest, hold: Hold) -> bool:
    """Tell whether the hold is on something within this person's reach; one on everything is on everybody's."""
    if scope_of(hold) is Scope.EVERYTHING:
        return True
    tenant_id = hold.tenant_id or (hold.destination.tenant_id if hold.destination else None)
    return tenant_id is not None and reach(request).covers(tenant_id)
