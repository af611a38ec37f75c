"""Revoke a client's token: the next request that brings it is refused; what it did stays on record."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from knox.models import AuthToken

if TYPE_CHECKING:
    from exports.models import Client


class Revocation(Enum):
    """What came of it."""

    REVOKED = auto()
    NOT_THERE = auto()


def revoke_token(client: Client, digest: str) -> Revocation:
    """Delete the token of this client with this hash; of two at once, one finds it gone already."""
    deleted, _ = AuthToken.objects.filter(user_id=client.user_id, digest=digest).delete()
    return Revocation.REVOKED if deleted else Revocation.NOT_THERE
