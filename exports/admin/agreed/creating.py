"""Create a destination, rename it, close it to new exports and open it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from django import forms
from django.contrib import messages
from django.contrib.admin.models import ADDITION, CHANGE
from django.http import HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from exports.actions.change_destination import Changed, ChangedSince, DestinationChange, change_destination
from exports.actions.change_destination import NameTaken as NameTakenNow
from exports.actions.create_destination import Created, IdReused, NameTaken, NewDestination, create_destination
from exports.admin.agreed.finding import destination_trail, destination_url, own_destination
from exports.admin.base import reach
from exports.admin.clicks import minted
from exports.admin.forms import ActForm, choice, hidden_id, line, lines, sent
from exports.admin.frame import Told, page, told_plain
from exports.admin.pausing import demand
from exports.admin.record import record
from exports.models import Destination, Tenant

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

USED = "This page has created a destination already. Load it again to create another; nothing was done now."
TAKEN = "Another destination of this tenant has this name."
LONGEST_NAME = 200
OPEN, CLOSED = "open", "closed"


class NewForm(ActForm):
    """Whose it is, and what people call it."""

    destination_id = hidden_id()
    tenant = forms.ModelChoiceField(Tenant.objects.none(), label="Tenant", help_text="It never changes.")
    name = line("Name", help_text="As people here call the partner.", validators=[])

    def __init__(self, *arguments: Any, tenants: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.fields["tenant"].queryset = tenants  # type: ignore[attr-defined] # it is a choice among rows
        self.fields["name"].max_length = LONGEST_NAME  # type: ignore[attr-defined] # it is text


class ChangeForm(ActForm):
    """Its name, whether exports may go there, and why."""

    found_name = forms.CharField(widget=forms.HiddenInput())
    found_state = forms.ChoiceField(choices=[(OPEN, OPEN), (CLOSED, CLOSED)], widget=forms.HiddenInput())
    name = line("Name")
    state = choice(
        "New exports",
        [(OPEN, "may go there"), (CLOSED, "are refused; those that wait are refused as well")],
    )
    reason = lines("Why", help_text="Kept with who did it.")


@require_http_methods(["GET", "HEAD", "POST"])
def new_view(request: HttpRequest) -> HttpResponseBase:
    """Show the form, or create the destination and lead on to its page."""
    demand(request, "exports.add_destination")
    tenants = reach(request).narrow(Tenant.objects.filter(is_active=True), "id").order_by("slug")
    initial = {"destination_id": minted(request, "destination", Destination.objects.count())}
    if len(only := tenants[:2]) == 1:
        initial["tenant"] = only[0].id
    form = NewForm(sent(request), tenants=tenants, initial=initial)
    if request.method == "POST" and form.is_valid():
        return _created(request, form)
    return _new_page(request, form)


def _new_page(request: HttpRequest, form: NewForm) -> HttpResponseBase:
    trail = [("Destinations", reverse("admin:exports_destination_changelist"))]
    shown: dict[str, Any] = {
        "form": form,
        "effects": (
            "Exports can be created for it, and wait until a first contract is confirmed.",
            "Store its credential and write its contract next.",
        ),
        "button": "Create it",
        "back": trail[0][1],
    }
    status = 400 if form.errors else 200
    return page(request, "admin/exports/plain_form.html", "Create a destination", trail, status=status, **shown)


def _created(request: HttpRequest, form: NewForm) -> HttpResponseBase:
    answers = form.cleaned_data
    wanted = NewDestination(
        destination_id=answers["destination_id"], tenant_id=answers["tenant"].id, name=answers["name"]
    )
    match create_destination(wanted, using=Destination.objects.db):
        case Created(destination):
            record(request, destination, ADDITION, f"Created as {destination.name}.")
            messages.success(request, f"Created: {destination.name}. Exports to it wait for a first contract.")
            return HttpResponseRedirect(destination_url(destination.id))
        case NameTaken():
            form.add_error("name", TAKEN)
            return _new_page(request, form)
        case IdReused():
            form.add_error(None, USED)
            return _new_page(request, form)
        case answer:
            assert_never(answer)


@require_http_methods(["GET", "HEAD", "POST"])
def change_view(request: HttpRequest, destination_id: UUID) -> HttpResponseBase:
    """Show name and state, or change them from what was looked at."""
    destination = own_destination(request, destination_id, "change_destination")
    state = OPEN if destination.is_enabled else CLOSED
    found = {"found_name": destination.name, "found_state": state, "name": destination.name, "state": state}
    form = ChangeForm(sent(request), initial=found)
    if request.method == "POST" and form.is_valid():
        return _changed(request, destination, form)
    return _change_page(request, destination, form)


def _change_page(request: HttpRequest, destination: Destination, form: ChangeForm) -> HttpResponseBase:
    shown: dict[str, Any] = {
        "form": form,
        "effects": ("Where it leads does not change: that is its contract's business.",),
        "button": "Change it",
        "back": destination_url(destination.id),
    }
    title, status = f"Rename, close or open {destination.name}", 400 if form.errors else 200
    return page(request, "admin/exports/plain_form.html", title, destination_trail(destination), status=status, **shown)


def _changed(request: HttpRequest, destination: Destination, form: ChangeForm) -> HttpResponseBase:
    answers = form.cleaned_data
    change = DestinationChange(
        tenant_id=destination.tenant_id,
        destination_id=destination.id,
        found=(answers["found_name"], answers["found_state"] == OPEN),
        wanted=(answers["name"], answers["state"] == OPEN),
    )
    match change_destination(change, using=Destination.objects.db):
        case Changed():
            words = f"{answers['found_name']}, {answers['found_state']} → {answers['name']}, {answers['state']}"
            record(request, destination, CHANGE, f"{words}. Why: {answers['reason']}")
            messages.success(request, f"Changed: {answers['name']}, {answers['state']} to new exports.")
            return HttpResponseRedirect(destination_url(destination.id))
        case NameTakenNow():
            form.add_error("name", TAKEN)
            return _change_page(request, destination, form)
        case ChangedSince():
            return _overtaken(request, destination)
        case answer:
            assert_never(answer)


def _overtaken(request: HttpRequest, destination: Destination) -> HttpResponseBase:
    told = Told(
        "amber",
        "Somebody changed it while you looked at it. Nothing was done by you.",
        (),
        ((f"Destination {destination.name}", destination_url(destination.id)),),
    )
    return told_plain(request, "Rename, close or open", destination_trail(destination), told, status=409)
