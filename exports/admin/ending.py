"""End a hold with a reason: resume, end the freeze, let a guarded export go on (I5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from exports.access import actor_name
from exports.actions.end_hold import Ended, EndedBefore, Ending, NotByPeople, end_hold
from exports.admin.formats import ago
from exports.admin.forms import ActForm, lines, sent
from exports.admin.frame import Told, Trail, page, told_plain
from exports.admin.hold_words import ENDING, covers, may_end, named
from exports.admin.pausing import demand
from exports.models import Hold
from exports.states import HoldCause

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase
    from django.template.response import TemplateResponse


class EndForm(ActForm):
    """Why it ends."""

    reason = lines("Why", help_text="Kept with the hold.")


@require_http_methods(["GET", "HEAD", "POST"])
def end_view(request: HttpRequest, hold_id: UUID) -> HttpResponseBase:
    """End a hold that this person may end."""
    demand(request, "exports.view_hold")
    hold = Hold.objects.select_related("tenant", "destination").filter(id=hold_id).first()
    if hold is None or not covers(request, hold):
        raise Http404
    if hold.ended_at is None and not may_end(request, hold):
        raise PermissionDenied
    form = EndForm(sent(request))
    if request.method == "POST" and form.is_valid():
        return _ended(request, hold, form)
    return _end_page(request, hold, form, status=400 if form.errors else 200)


def _end_page(request: HttpRequest, hold: Hold, form: EndForm, *, status: int) -> TemplateResponse:
    if hold.ended_at is not None:
        return told_plain(request, _end_title(hold), _holds_trail(hold), _ended_before(hold), status=200)
    shown: dict[str, Any] = {"form": form, "hold": hold, "what": named(hold), "button": ENDING[HoldCause(hold.cause)]}
    shown["effects"] = _end_effects(hold)
    return page(request, "admin/exports/hold/end.html", _end_title(hold), _holds_trail(hold), status=status, **shown)


def _end_title(hold: Hold) -> str:
    return f"{ENDING.get(HoldCause(hold.cause), 'End the hold')}: {named(hold)}"


def _holds_trail(hold: Hold) -> Trail:
    changelist, change = reverse("admin:exports_hold_changelist"), reverse("admin:exports_hold_change", args=[hold.id])
    return [("Holds", changelist), (named(hold), change)]


def _end_effects(hold: Hold) -> list[str]:
    if hold.cause == HoldCause.GUARD:
        return [
            "This version of the export is judged by policy and built anew.",
            "Its file is sent, whatever the number of contacts in it.",
        ]
    return ["What waits only for this is woken within seconds, as fast as its destinations allow."]


def _ended(request: HttpRequest, hold: Hold, form: EndForm) -> HttpResponseBase:
    ending = Ending(hold_id=hold.id, ended_by=actor_name(request.user), reason=form.cleaned_data["reason"])
    match end_hold(ending, using=Hold.objects.db):
        case Ended():
            messages.success(request, f"Ended: the hold on {named(hold)}.")
            return HttpResponseRedirect(_held_page(hold))
        case EndedBefore(now):
            return told_plain(request, _end_title(hold), _holds_trail(hold), _ended_before(now), status=409)
        case NotByPeople():
            raise PermissionDenied
        case answer:
            assert_never(answer)


def _held_page(hold: Hold) -> str:
    for name, key in (("exportjob", hold.job_id), ("destination", hold.destination_id), ("tenant", hold.tenant_id)):
        if key is not None:
            return reverse(f"admin:exports_{name}_change", args=[key])
    return reverse("admin:exports_hold_changelist")


def _ended_before(hold: Hold) -> Told:
    assert hold.ended_at is not None, "it has ended"  # noqa: S101 - a caller's bug
    by = format_html("{} ended it {}. Why: {}", hold.ended_by, ago(hold.ended_at), hold.ended_reason)
    return Told("grey", "This hold has ended already.", (by, "Nothing was done by you."))
