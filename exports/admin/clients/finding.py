"""Which clients somebody may see and which they may change, and who may be the person behind one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.urls import reverse

from exports.access import reach_of
from exports.admin.base import reach
from exports.admin.pausing import demand
from exports.models import Client, Membership, Tenant

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID

    from django.db.models import QuerySet
    from django.http import HttpRequest

    from exports.admin.frame import Trail

APPROVERS = "Export replacement approvers"


def clients_within(request: HttpRequest, rows: QuerySet[Client]) -> QuerySet[Client]:
    """Keep the clients that act for a tenant within reach."""
    mine = reach(request)
    if mine.tenant_ids is None:
        return rows
    return rows.filter(user_id__in=mine.narrow(Membership.objects.all()).values("user_id"))


def own_client(request: HttpRequest, client_id: int, permission: str) -> Client:
    """Return a client within reach, for whoever has the permission; a foreign one looks missing."""
    demand(request, f"exports.{permission}")
    found = clients_within(request, Client.objects.select_related("user", "person")).filter(id=client_id).first()
    if found is None:
        raise Http404
    return found


def demand_all(request: HttpRequest, client: Client) -> None:
    """Raise PermissionDenied unless every tenant of the client is within reach.

    Its token opens all of them: who administers one would otherwise get the others with it.
    """
    mine = reach(request)
    if not all(mine.covers(tenant_id) for tenant_id in tenant_ids_of(client)):
        raise PermissionDenied


def tenant_ids_of(client: Client) -> set[UUID]:
    """Return the tenants that the client acts for."""
    return set(Membership.objects.filter(user_id=client.user_id).values_list("tenant_id", flat=True))


def tenants_within(request: HttpRequest) -> QuerySet[Tenant]:
    """Return the tenants that somebody may let others into."""
    return reach(request).narrow(Tenant.objects.all(), "id").order_by("slug")


def approver(username: str, tenants: Collection[Tenant]) -> User | None:
    """Return the person of this name, if they may send again for all of these tenants."""
    found = User.objects.filter(username=username, is_active=True, client=None, groups__name=APPROVERS).first()
    if found is None:
        return None
    theirs = reach_of(found)
    return found if all(theirs.covers(tenant.id) for tenant in tenants) else None


def client_url(client_id: int, screen: str = "change", *more: object) -> str:
    """Return the address of a client's page, or of one of its screens."""
    return reverse(f"admin:exports_client_{screen}", args=[client_id, *more])


def client_trail(client: Client | None = None) -> Trail:
    """Return the way to a page beneath the clients, or beneath one of them."""
    trail = [("Client systems", reverse("admin:exports_client_changelist"))]
    return trail if client is None else [*trail, (client.name, client_url(client.id))]
