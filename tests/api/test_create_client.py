"""create_client: a client with no more than it was given, and a token that is shown once."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone
from knox.models import AuthToken

from exports.models import Client
from tests.people import EXPORTS, a_destination, a_tenant
from tests.routing import RoleClient, role

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api"])


def created(*arguments: str) -> str:
    """Run the command as a web process's role would, and return the token it printed."""
    out = io.StringIO()
    with role("api"):
        call_command("create_client", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue().strip()


def ask(token: str, method: str = "GET", body: Any = None) -> int:
    send = getattr(RoleClient(), method.lower())
    headers = {"authorization": f"Token {token}"}
    return int(send(EXPORTS, body, content_type="application/json", headers=headers).status_code)


def test_its_token_opens_what_it_was_given_and_no_more() -> None:
    tenant, other = a_tenant(), a_tenant()
    token = created("crm", "--tenant", tenant.slug)

    assert ask(token) == 200
    assert ask(token, "POST", {"destination_id": str(a_destination(tenant).id)}) == 201
    assert ask(token, "POST", {"destination_id": str(a_destination(other).id)}) == 404


def test_a_client_that_may_only_look_cannot_create() -> None:
    tenant = a_tenant()
    token = created("crm", "--tenant", tenant.slug, "--verbs", "view")

    assert ask(token) == 200
    assert ask(token, "POST", {"destination_id": str(a_destination(tenant).id)}) == 403


def test_the_token_expires_and_stands_in_no_table() -> None:
    token = created("crm", "--tenant", a_tenant().slug, "--days", "7")

    kept = AuthToken.objects.get()
    assert token not in {kept.digest, kept.token_key}
    assert timedelta(days=6) < kept.expiry - timezone.now() <= timedelta(days=7)


def test_its_user_can_never_sign_in_to_the_console() -> None:
    created("crm", "--tenant", a_tenant().slug)

    user = Client.objects.get(name="crm").user
    assert not user.has_usable_password()
    assert not user.is_staff


def test_a_name_is_never_given_again() -> None:
    tenant = a_tenant()
    created("crm", "--tenant", tenant.slug)

    with pytest.raises(CommandError, match="never reused"):
        created("crm", "--tenant", tenant.slug)
    assert AuthToken.objects.count() == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["crm", "--tenant", "nowhere"], "no such tenant: nowhere"),
        (["c r m", "--tenant", "nowhere"], "letters, digits"),
        (["crm", "--tenant", "nowhere", "--verbs", "reconcile"], "invalid"),
        (["crm", "--tenant", "nowhere", "--days", "0"], "between 1 and"),
        (["crm"], "--tenant"),
    ],
)
def test_a_wrong_call_says_what_is_wrong_and_registers_nobody(arguments: list[str], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        created(*arguments)

    assert not User.objects.exists()
