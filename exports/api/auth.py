"""Which client is calling: a knox token of a client system's own user."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.plumbing import build_bearer_security_scheme_object
from knox.auth import TokenAuthentication
from knox.settings import knox_settings
from rest_framework.exceptions import AuthenticationFailed

if TYPE_CHECKING:
    from drf_spectacular.openapi import AutoSchema

NOTED_EVERY = timedelta(minutes=1)
"""How exactly the console tells when a client called last; a write with every call would cost more than it tells."""
_TOKEN = re.compile(rb"[!-~]{1,200}")
"""Printable ASCII without spaces: what every token is made of, and nothing that the database would choke on."""


class ClientTokenAuthentication(TokenAuthentication):
    """Knox's tokens, with two differences: any bytes are a wrong token, and an expired one is refused and stays.

    Who had access until when is part of the record. When a client called last is noted, at most once a minute.
    """

    def authenticate_credentials(self, token: bytes) -> Any:
        """Return the user and the token; raise AuthenticationFailed alike for whatever is wrong with it."""
        if _TOKEN.fullmatch(token) is None:
            raise AuthenticationFailed("Invalid token.")
        user, found = super().authenticate_credentials(token)  # type: ignore[no-untyped-call] # the library's own
        note_call(user)
        return user, found

    def _cleanup_token(self, auth_token: Any) -> bool:
        return auth_token.expiry is not None and auth_token.expiry < timezone.now()


def note_call(user: User) -> None:
    """Note that a client called now; of many calls in a minute, and of several processes, one writes."""
    before = timezone.now() - NOTED_EVERY
    if user.last_login is None or user.last_login < before:
        unnoted = Q(last_login=None) | Q(last_login__lt=before)
        User.objects.filter(unnoted, id=user.id).update(last_login=timezone.now())


class ClientTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call] # the library's own
    """How the schema describes it."""

    target_class = ClientTokenAuthentication
    name = "clientToken"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:  # noqa: ARG002 - the interface's
        """Return the header that carries a token."""
        scheme: dict[str, Any] = build_bearer_security_scheme_object(
            header_name="Authorization", token_prefix=knox_settings.AUTH_HEADER_PREFIX
        )
        return scheme
