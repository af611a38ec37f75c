"""Which client is calling: a knox token of a client system's own user."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.plumbing import build_bearer_security_scheme_object
from knox.auth import TokenAuthentication
from knox.settings import knox_settings
from rest_framework.exceptions import AuthenticationFailed

if TYPE_CHECKING:
    from drf_spectacular.openapi import AutoSchema

_TOKEN = re.compile(rb"[!-~]{1,200}")
"""Printable ASCII without spaces: what every token is made of, and nothing that the database would choke on."""


class ClientTokenAuthentication(TokenAuthentication):
    """Knox's tokens, with two differences: any bytes are a wrong token, and reading one writes nothing.

    An expired token is refused and stays: who had access until when is part of the record.
    """

    def authenticate_credentials(self, token: bytes) -> Any:
        """Return the user and the token; raise AuthenticationFailed alike for whatever is wrong with it."""
        if _TOKEN.fullmatch(token) is None:
            raise AuthenticationFailed("Invalid token.")
        return super().authenticate_credentials(token)  # type: ignore[no-untyped-call] # the library's own

    def _cleanup_token(self, auth_token: Any) -> bool:
        return auth_token.expiry is not None and auth_token.expiry < timezone.now()


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
