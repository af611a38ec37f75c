"""Let a person into a tenant, and end that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.contrib.admin.models import ADDITION, DELETION
from django.contrib.auth.models import User
from django.http import Http404, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from exports.actions.change_membership import add_member, remove_member
from exports.admin.base import reach
from exports.admin.clients.finding import tenants_within
from exports.admin.forms import ActForm, line, lines, sent
from exports.admin.frame import page
from exports.admin.pausing import demand
from exports.admin.record import record
from exports.models import Membership, Tenant

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

NOBODY = "Nobody who may sign in to the console has this name."


class MemberForm(ActForm):
    """Who, into which tenant, and why."""

    username = line("Username", help_text="As they sign in. What they may do there is their groups' business.")
    tenant = forms.ModelChoiceField(Tenant.objects.none(), label="Tenant")
    reason = lines("Why", help_text="Kept with who did it.")

    def __init__(self, *arguments: Any, tenants: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.fields["tenant"].queryset = tenants  # type: ignore[attr-defined] # it is a choice among rows

    def clean_username(self) -> str:
        """Find the person; a client system's user is changed on the client's own page."""
        name = str(self.cleaned_data["username"])
        self.person = User.objects.filter(username=name, is_staff=True, is_active=True, client=None).first()
        if self.person is None:
            raise forms.ValidationError(NOBODY)
        return name


class EndForm(ActForm):
    """Why it ends."""

    reason = lines("Why", help_text="Kept with who did it.")


@require_http_methods(["GET", "HEAD", "POST"])
def add_view(request: HttpRequest) -> HttpResponseBase:
    """Show the form, or let somebody in."""
    demand(request, "exports.add_membership")
    form = MemberForm(sent(request), tenants=tenants_within(request))
    if request.method == "POST" and form.is_valid():
        return _added(request, form)
    shown: dict[str, Any] = {
        "effects": ("They see this tenant's exports from their next request on.",),
        "button": "Let them in",
    }
    return _page(request, "Let somebody into a tenant", form, **shown)


def _added(request: HttpRequest, form: MemberForm) -> HttpResponseBase:
    tenant, person = form.cleaned_data["tenant"], form.person
    assert person is not None, "a valid form has found them"  # noqa: S101 - a bug
    is_new = add_member(person, tenant)
    if is_new:
        record(request, tenant, ADDITION, f"Let {person.username} in. Why: {form.cleaned_data['reason']}")
    words = "sees" if is_new else "saw already"
    messages.success(request, f"{person.username} {words} {tenant.name}.")
    return HttpResponseRedirect(_list())


@require_http_methods(["GET", "HEAD", "POST"])
def remove_view(request: HttpRequest, membership_id: int) -> HttpResponseBase:
    """Ask why, or end a membership of a tenant within reach."""
    demand(request, "exports.delete_membership")
    rows = reach(request).narrow(Membership.objects.select_related("user", "tenant"))
    membership = rows.filter(id=membership_id, user__client=None).first()
    if membership is None:
        raise Http404
    form = EndForm(sent(request))
    if request.method == "POST" and form.is_valid():
        return _removed(request, membership, form.cleaned_data["reason"])
    shown: dict[str, Any] = {
        "effects": ("From their next request on, nothing of this tenant is there for them.",),
        "button": "End it",
        "is_dangerous": True,
    }
    return _page(request, f"End what {membership.user.username} sees of {membership.tenant.name}", form, **shown)


def _removed(request: HttpRequest, membership: Membership, reason: str) -> HttpResponseBase:
    if remove_member(membership):
        record(request, membership.tenant, DELETION, f"Ended what {membership.user.username} sees. Why: {reason}")
    messages.success(request, f"{membership.user.username} sees {membership.tenant.name} no longer.")
    return HttpResponseRedirect(_list())


def _page(request: HttpRequest, title: str, form: ActForm, **shown: Any) -> HttpResponseBase:
    trail = [("Memberships", _list())]
    status = 400 if form.errors else 200
    named = {"form": form, "back": _list(), **shown}
    return page(request, "admin/exports/plain_form.html", title, trail, status=status, **named)


def _list() -> str:
    return reverse("admin:exports_membership_changelist")
