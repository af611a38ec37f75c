"""Store a destination's credential, or replace it with a reason: sealed at once, and shown to nobody again."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC
from typing import TYPE_CHECKING, Any, assert_never

from django import forms
from django.contrib import messages
from django.contrib.admin.models import CHANGE
from django.http import HttpResponseRedirect
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from exports.access import actor_name
from exports.actions.propose_contract import Overtaken, Proposal, Proposed, propose_contract
from exports.actions.store_credential import NoSuchDestination, Sealed, Stored, store_credential
from exports.admin.agreed.fields import CHOICES
from exports.admin.agreed.finding import destination_trail, destination_url, own_destination
from exports.admin.agreed.writing import proposed
from exports.admin.clicks import minted
from exports.admin.forms import ActForm, hidden_id, line, lines, sent
from exports.admin.frame import Told, page, told_plain
from exports.admin.record import record
from exports.conf import limits
from exports.contracts import Auth, AuthMethod, Contract, ContractError
from exports.models import Destination
from exports.queries.agreed import latest_secret_id, standing_of
from exports.secrets import Secret, encrypt

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    from exports.queries.agreed import Standing

LONGEST_SECRET = 20_000
"""Characters of a private key; longer ones do not exist."""
PARTS = ("password", "private_key", "passphrase", "certificate")


class Unseen(forms.Textarea):
    """A field of several lines that never shows what was typed into it."""

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:  # noqa: ARG002 - the framework's signature
        """Return what the template shows: nothing of the value."""
        return super().get_context(name, "", attrs)


def _hidden_line(label: str, hint: str = "") -> forms.CharField:
    widget = forms.PasswordInput({"size": 50, "autocomplete": "off"}, render_value=False)
    return forms.CharField(
        label=label, help_text=hint, required=False, max_length=LONGEST_SECRET, strip=False, widget=widget
    )


def _hidden_lines(label: str, hint: str = "") -> forms.CharField:
    widget = Unseen({"rows": 6, "cols": 60, "autocomplete": "off", "spellcheck": "false"})
    return forms.CharField(label=label, help_text=hint, required=False, max_length=LONGEST_SECRET, widget=widget)


class CredentialForm(ActForm):
    """What signs in there; which parts are needed is the method's."""

    secret_id = hidden_id()
    contract_id = hidden_id()
    looked_at = forms.IntegerField(widget=forms.HiddenInput(), min_value=0)
    user = line("User")
    method = forms.ChoiceField(label="Method", choices=[(each.value, CHOICES[each]) for each in AuthMethod])
    password = _hidden_line("Password", "Where the method asks for one. Never shown again.")
    private_key = _hidden_lines(
        "Private key", "Where the method asks for one, as OpenSSH or PEM text. Never shown again."
    )
    passphrase = _hidden_line("Passphrase of the key", "Empty: the key has none.")
    certificate = _hidden_lines("Certificate", "Where the method asks for one: one line, as OpenSSH writes it.")
    expires_at = forms.DateTimeField(
        label="It ends",
        required=False,
        help_text="In UTC, where the partner says so. Empty: no end is known.",
        widget=forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    reason = lines("Why", help_text="Kept with who did it.")

    def __init__(self, *arguments: Any, has_contract: bool, **named: Any) -> None:
        super().__init__(*arguments, **named)
        if not has_contract:  # what goes with it is asked by the form of the first version
            del self.fields["user"], self.fields["expires_at"]

    def clean(self) -> dict[str, Any]:
        """Require what the method needs, and nothing besides."""
        method = AuthMethod(self.cleaned_data.get("method", AuthMethod.PASSWORD))
        needed = {
            "password": method.needs_password,
            "private_key": method.needs_key,
            "certificate": method is AuthMethod.CERTIFICATE,
        }
        for name, is_needed in needed.items():
            if is_needed and not self.cleaned_data.get(name):
                self.add_error(name, f"“{self.fields[name].label}” is missing: this method needs it.")
            elif not is_needed and self.cleaned_data.get(name):
                self.add_error(name, f"“{self.fields[name].label}” is not used by this method. Type nothing there.")
        return self.cleaned_data

    @sensitive_variables()
    def sealed(self) -> bytes:
        """Return the credential, encrypted; its lines end as key tools end them, not as browsers do."""
        secret = {name: self.cleaned_data[name].replace("\r\n", "\n") for name in PARTS}
        if secret["private_key"]:
            secret["private_key"] += "\n"
        return encrypt(Secret(**secret), limits().credential_keys)


@sensitive_post_parameters(*PARTS)
@require_http_methods(["GET", "HEAD", "POST"])
def credential_view(request: HttpRequest, destination_id: UUID) -> HttpResponseBase:
    """Show the form, or seal what was sent and record the version that names it."""
    destination = own_destination(request, destination_id, "add_destinationcontract")
    standing = standing_of(destination)
    initial = _initial(request, destination, standing)
    form = CredentialForm(sent(request), initial=initial, has_contract=standing.base is not None)
    if request.method != "POST" or not form.is_valid():
        return _page(request, destination, standing, form, status=400 if form.errors else 200)
    base = standing.base
    if base is None:
        return _stored(request, destination, form)
    try:
        terms = _with_credential(Contract.from_json(base.terms), form)
    except ContractError as error:
        form.add_error(None, str(error))
        return _page(request, destination, standing, form, status=400)
    return _proposed(request, destination, form, terms)


def _initial(request: HttpRequest, destination: Destination, standing: Standing) -> dict[str, Any]:
    auth = standing.base.terms["auth"] if standing.base else {}
    stored = latest_secret_id(destination.id, Destination.objects.db)
    subject = f"{destination.id} {standing.latest_version} {stored}"
    return {
        "secret_id": minted(request, "credential", subject),
        "contract_id": minted(request, "credential's contract", subject),
        "looked_at": standing.latest_version,
        "user": auth.get("user", ""),
        "method": auth.get("method", AuthMethod.PASSWORD),
    }


def _page(
    request: HttpRequest, destination: Destination, standing: Standing, form: CredentialForm, *, status: int
) -> HttpResponseBase:
    stored = latest_secret_id(destination.id, Destination.objects.db)
    shown: dict[str, Any] = {"form": form, "stored": stored, "base": standing.base}
    shown |= {"next_version": standing.latest_version + 1, "back": destination_url(destination.id)}
    title = f"{'Replace' if stored else 'Store'} the credential for {destination.name}"
    trail = destination_trail(destination)
    return page(request, "admin/exports/destination/credential.html", title, trail, status=status, **shown)


def _with_credential(terms: Contract, form: CredentialForm) -> Contract:
    answers = form.cleaned_data
    ends = answers["expires_at"]
    auth = Auth(
        user=answers["user"],
        secret_id=str(answers["secret_id"]),
        method=AuthMethod(answers["method"]),
        expires_at=None if ends is None else ends.astimezone(UTC),
    )
    return Contract.from_json(replace(terms, auth=auth).to_json())


def _stored(request: HttpRequest, destination: Destination, form: CredentialForm) -> HttpResponseBase:
    sealed = Sealed(
        secret_id=form.cleaned_data["secret_id"],
        tenant_id=destination.tenant_id,
        destination_id=destination.id,
        ciphertext=form.sealed(),
        stored_by=actor_name(request.user),
    )
    match store_credential(sealed, using=Destination.objects.db):
        case Stored():
            record(request, destination, CHANGE, f"Stored a credential. Why: {form.cleaned_data['reason']}")
            messages.success(request, "The credential is stored. The contract that is written next names it.")
            return HttpResponseRedirect(destination_url(destination.id))
        case NoSuchDestination():
            return _lost(request, destination)
        case answer:
            assert_never(answer)


def _proposed(
    request: HttpRequest, destination: Destination, form: CredentialForm, terms: Contract
) -> HttpResponseBase:
    proposal = Proposal(
        contract_id=form.cleaned_data["contract_id"],
        tenant_id=destination.tenant_id,
        destination_id=destination.id,
        expected_version=form.cleaned_data["looked_at"],
        terms=terms,
        reason=form.cleaned_data["reason"],
        proposed_by=actor_name(request.user),
        sealed=(uuid.UUID(terms.auth.secret_id), form.sealed()),
    )
    match propose_contract(proposal, using=Destination.objects.db):
        case Proposed(contract):
            return proposed(request, destination, contract.version)
        case Overtaken():
            return _lost(request, destination)
        case answer:
            assert_never(answer)


def _lost(request: HttpRequest, destination: Destination) -> HttpResponseBase:
    told = Told(
        "amber",
        "Another version was written while you filled this in. Nothing was recorded, and the credential is not stored.",
        ("Look at what was changed, and type it in again.",),
        ((f"Destination {destination.name}", destination_url(destination.id)),),
    )
    return told_plain(request, "Replace the credential", destination_trail(destination), told, status=409)
