"""Issue a token, which is shown once, and revoke one."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.contrib.admin.models import CHANGE
from django.http import Http404, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods
from knox.models import AuthToken

from exports.actions.issue_token import issue_token
from exports.actions.revoke_token import Revocation, revoke_token
from exports.admin.clients.finding import client_trail, client_url, demand_all, own_client
from exports.admin.forms import ActForm, lines, sent
from exports.admin.frame import Told, page, told_plain
from exports.admin.record import record

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    from exports.models import Client

DEFAULT_DAYS, LONGEST_DAYS = 365, 3_650
"""A token that outlives ten years has outlived everybody who knew of it."""


def days() -> forms.IntegerField:
    """Return the field for how long a token is good."""
    return forms.IntegerField(
        label="Good for, in days",
        initial=DEFAULT_DAYS,
        min_value=1,
        max_value=LONGEST_DAYS,
        help_text="Shorter is safer: issue the next one before this one ends.",
    )


class IssueForm(ActForm):
    """How long it is good for."""

    days = days()


class RevokeForm(ActForm):
    """Why."""

    reason = lines("Why", help_text="Kept with who did it.")


@require_http_methods(["GET", "HEAD", "POST"])
def issue_view(request: HttpRequest, client_id: int) -> HttpResponseBase:
    """Ask how long it is to be good for, or issue it and show it once."""
    client = own_client(request, client_id, "change_client")
    demand_all(request, client)
    form = IssueForm(sent(request))
    if request.method == "POST" and form.is_valid():
        token = issue_token(client, timedelta(days=form.cleaned_data["days"]))
        record(request, client, CHANGE, f"Issued a token for {form.cleaned_data['days']} days.")
        return shown_once(request, client, token)
    shown: dict[str, Any] = {
        "form": form,
        "effects": (
            "It is shown once, on the next page, and kept as a hash only.",
            "It opens everything that the client may do. Tokens that there are stay good.",
        ),
        "button": "Issue it",
        "back": client_url(client.id),
    }
    title, status = f"Issue a token for {client.name}", 400 if form.errors else 200
    return page(request, "admin/exports/plain_form.html", title, client_trail(client), status=status, **shown)


def shown_once(request: HttpRequest, client: Client, token: str) -> HttpResponseBase:
    """Show a token; like every page of the console it is kept in no cache, and no address leads to it again."""
    return page(
        request,
        "admin/exports/client/token.html",
        f"The token of {client.name}",
        client_trail(client),
        token=token,
        back=client_url(client.id),
    )


@require_http_methods(["GET", "HEAD", "POST"])
def revoke_view(request: HttpRequest, client_id: int, key: str) -> HttpResponseBase:
    """Ask why, or revoke the token of a client within reach: taking away needs no more than that."""
    client = own_client(request, client_id, "change_client")
    token = tokens_of(client).filter(token_key=key).first()
    if token is None and request.method != "POST":
        raise Http404
    form = RevokeForm(sent(request))
    if request.method == "POST" and form.is_valid():
        return _revoked(request, client, token, form.cleaned_data["reason"])
    shown: dict[str, Any] = {
        "form": form,
        "effects": ("The next request that brings it is refused. What it did stays on record.",),
        "button": "Revoke it",
        "is_dangerous": True,
        "back": client_url(client.id),
    }
    title, status = f"Revoke token {key}… of {client.name}", 400 if form.errors else 200
    return page(request, "admin/exports/plain_form.html", title, client_trail(client), status=status, **shown)


def _revoked(request: HttpRequest, client: Client, token: Any, reason: str) -> HttpResponseBase:
    answer = Revocation.NOT_THERE if token is None else revoke_token(client, token.digest)
    if answer is Revocation.NOT_THERE:
        told = Told(
            "grey", "There is no such token any more. Nothing was done.", (), ((client.name, client_url(client.id)),)
        )
        return told_plain(request, "Revoke a token", client_trail(client), told, status=409)
    record(request, client, CHANGE, f"Revoked token {token.token_key}…. Why: {reason}")
    messages.success(request, f"Revoked: token {token.token_key}… of {client.name}.")
    return HttpResponseRedirect(client_url(client.id))


def tokens_of(client: Client) -> Any:
    """Return a client's tokens, the newest first."""
    return AuthToken.objects.filter(user_id=client.user_id).order_by("-created")


def is_over(token: Any) -> bool:
    """Tell whether a token's time has passed; it is refused, and deleted when it is next brought."""
    return token.expiry is not None and token.expiry <= timezone.now()
