"""Create a client system, and change what it may do, for whom, and in whose name."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, assert_never

from django import forms
from django.contrib import messages
from django.contrib.admin.models import ADDITION, CHANGE
from django.core.validators import validate_slug
from django.http import HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from exports.actions.change_client import Access, change_client
from exports.actions.create_client import CODENAMES, ClientVerb, NameTaken, Registered, create_client
from exports.admin.clients.finding import (
    approver,
    client_trail,
    client_url,
    demand_all,
    own_client,
    tenant_ids_of,
    tenants_within,
)
from exports.admin.clients.tokens import days, shown_once
from exports.admin.forms import ActForm, line, lines, sent
from exports.admin.frame import page
from exports.admin.pausing import demand
from exports.admin.record import record
from exports.models import Tenant

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    from exports.models import Client

LONGEST_NAME = 60
VERBS = {
    ClientVerb.CREATE: "create exports",
    ClientVerb.VIEW: "see exports",
    ClientVerb.CANCEL: "cancel exports",
    ClientVerb.TERMS: "send queued exports elsewhere",
    ClientVerb.REPLACE: "send again, in the name of the person below",
}
NO_APPROVER = "No member of Export replacement approvers of all these tenants has this name."


class AccessForm(ActForm):
    """Which tenants, which verbs, and which person."""

    tenants = forms.ModelMultipleChoiceField(
        Tenant.objects.none(), label="For the tenants", widget=forms.CheckboxSelectMultiple
    )
    verbs = forms.MultipleChoiceField(
        label="It may",
        choices=[(verb.value, words) for verb, words in VERBS.items()],
        widget=forms.CheckboxSelectMultiple,
    )
    person = line(
        "Person behind it",
        required=False,
        help_text="The username of an approver. Without one, the client cannot send again.",
    )

    def __init__(self, *arguments: Any, tenants: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.fields["tenants"].queryset = tenants  # type: ignore[attr-defined] # it is a choice among rows

    def clean(self) -> dict[str, Any]:
        """Find the person; one who may not send again for all of the tenants is nobody."""
        username, tenants = self.cleaned_data.get("person", ""), self.cleaned_data.get("tenants", [])
        self.cleaned_data["approver"] = approver(username, tenants) if username else None
        if username and self.cleaned_data["approver"] is None:
            self.add_error("person", NO_APPROVER)
        return self.cleaned_data

    def access(self, *, is_active: bool = True) -> Access:
        """Return what was filled in."""
        person = self.cleaned_data["approver"]
        return Access(
            tenant_ids=frozenset(tenant.id for tenant in self.cleaned_data["tenants"]),
            verbs=[ClientVerb(verb) for verb in self.cleaned_data["verbs"]],
            person_id=None if person is None else person.id,
            is_active=is_active,
        )


class NewForm(AccessForm):
    """The same, and a name that nobody had."""

    name = line("Name", help_text="Stands in the history as client:name, for good. Letters, digits, hyphens.")
    days = days()

    field_order = ("name", "tenants", "verbs", "person", "days")

    def clean_name(self) -> str:
        """Take a name that fits the history and every address."""
        name = str(self.cleaned_data["name"])
        validate_slug(name)
        if len(name) > LONGEST_NAME:
            raise forms.ValidationError(f"At most {LONGEST_NAME} characters.")
        return name


class ChangeForm(AccessForm):
    """The same, whether it may do anything at all, and why."""

    is_active = forms.BooleanField(label="Its tokens are accepted", required=False)
    reason = lines("Why", help_text="Kept with who did it.")


@require_http_methods(["GET", "HEAD", "POST"])
def new_view(request: HttpRequest) -> HttpResponseBase:
    """Show the form, or create the client and show its first token, once."""
    demand(request, "exports.add_client")
    initial = {"verbs": [ClientVerb.CREATE.value, ClientVerb.VIEW.value]}
    form = NewForm(sent(request), tenants=tenants_within(request), initial=initial)
    if request.method == "POST" and form.is_valid():
        return _created(request, form)
    return _page(request, form, "Create a client system", None)


def _created(request: HttpRequest, form: NewForm) -> HttpResponseBase:
    answers, access = form.cleaned_data, form.access()
    match create_client(answers["name"], answers["tenants"], access.verbs, timedelta(days=answers["days"])):
        case Registered(client, token):
            if access.person_id is not None:
                change_client(client, access)
            record(request, client, ADDITION, f"Created with {_words(form)}; a token for {answers['days']} days.")
            return shown_once(request, client, token)
        case NameTaken():
            form.add_error("name", "A client or user had this name before; names are never given again.")
            return _page(request, form, "Create a client system", None)
        case answer:
            assert_never(answer)


@require_http_methods(["GET", "HEAD", "POST"])
def access_view(request: HttpRequest, client_id: int) -> HttpResponseBase:
    """Show what a client may do, or change it."""
    client = own_client(request, client_id, "change_client")
    demand_all(request, client)
    form = ChangeForm(sent(request), tenants=tenants_within(request), initial=_initial(client))
    if request.method == "POST" and form.is_valid():
        change_client(client, form.access(is_active=form.cleaned_data["is_active"]))
        state = "accepted" if form.cleaned_data["is_active"] else "refused"
        record(request, client, CHANGE, f"{_words(form)}; tokens {state}. Why: {form.cleaned_data['reason']}")
        messages.success(request, f"Changed: {client.name}.")
        return HttpResponseRedirect(client_url(client.id))
    return _page(request, form, f"Change what {client.name} may do", client)


def _initial(client: Client) -> dict[str, Any]:
    held = set(client.user.user_permissions.values_list("codename", flat=True))
    return {
        "tenants": tenant_ids_of(client),
        "verbs": [verb.value for verb, codename in CODENAMES.items() if codename in held],
        "person": client.person.get_username() if client.person else "",
        "is_active": client.user.is_active,
    }


def _words(form: AccessForm) -> str:
    answers = form.cleaned_data
    tenants = ", ".join(tenant.slug for tenant in answers["tenants"])
    person = answers["person"] or "nobody"
    return f"tenants {tenants}; may {', '.join(sorted(answers['verbs']))}; person {person}"


def _page(request: HttpRequest, form: AccessForm, title: str, client: Client | None) -> HttpResponseBase:
    back = reverse("admin:exports_client_changelist") if client is None else client_url(client.id)
    effects = (
        ("A user of its own is made for it, which cannot sign in to the console.", "Its first token is shown once.")
        if client is None
        else ("It counts from the client's next request on.", "What it has done stays on record under its name.")
    )
    shown: dict[str, Any] = {"form": form, "effects": effects, "back": back}
    shown["button"] = "Create it" if client is None else "Change it"
    status = 400 if form.errors else 200
    return page(request, "admin/exports/plain_form.html", title, client_trail(client), status=status, **shown)
