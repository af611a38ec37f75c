"""Who may see which tenant, and the name under which somebody acts (SECURITY: another tenant's data).

Every screen and every REST path narrows its reads by a `Reach`; an object outside of it looks missing. What
somebody may do with what they see is Django's permissions; the database's roles have the last word (I10).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from django.contrib.auth.models import AnonymousUser

from exports.models import Client, Membership

if TYPE_CHECKING:
    from uuid import UUID

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    Anyone = User | AnonymousUser

Rows = TypeVar("Rows", bound="QuerySet[Any]")


@dataclass(frozen=True, slots=True)
class Reach:
    """The tenants somebody may see; None means every tenant, which superusers have."""

    tenant_ids: frozenset[UUID] | None

    def covers(self, tenant_id: UUID) -> bool:
        """Tell whether this tenant's objects may be seen at all."""
        return self.tenant_ids is None or tenant_id in self.tenant_ids

    def narrow(self, rows: Rows, path: str = "tenant_id") -> Rows:
        """Keep only the rows of tenants within reach; `path` leads from the row to its tenant's id."""
        if self.tenant_ids is None:
            return rows
        # Sorted, so that the same reach is the same statement to whoever reads the server's statistics.
        return rows.filter(**{f"{path}__in": sorted(self.tenant_ids)})


NOWHERE = Reach(frozenset())
"""What somebody without an active account sees."""


def reach_of(user: Anyone) -> Reach:
    """Return the reach of a person or client, read from the memberships of this moment."""
    if isinstance(user, AnonymousUser) or not user.is_active:
        return NOWHERE
    if user.is_superuser:
        return Reach(None)
    members = Membership.objects.filter(user_id=user.id)
    return Reach(frozenset(members.values_list("tenant_id", flat=True)))


def actor_name(user: Anyone) -> str:
    """Return `client:<name>` for a client system's user, else `user:<username>`: what created_by keeps (I9)."""
    assert not isinstance(user, AnonymousUser), "only who is signed in acts"  # noqa: S101 - a view's bug
    client = Client.objects.filter(user_id=user.id).values_list("name", flat=True).first()
    return f"user:{user.get_username()}" if client is None else f"client:{client}"
