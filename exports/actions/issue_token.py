"""Issue a client a further token: good until a date, in no table but as a hash, shown only now (SECURITY: tokens)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from knox.models import AuthToken

if TYPE_CHECKING:
    from datetime import timedelta

    from exports.models import Client


def issue_token(client: Client, life: timedelta) -> str:
    """Return a new token; the caller has checked that whoever asks may act for all of the client's tenants."""
    _, token = AuthToken.objects.create(client.user, expiry=life)  # type: ignore[no-untyped-call] # the library's
    return str(token)
