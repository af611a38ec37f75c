"""What the pages about a destination share: whose it is, where it stands, and the way to its page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User
from django.http import Http404
from django.urls import reverse

from exports.admin.base import reach
from exports.admin.pausing import demand
from exports.models import Destination, DestinationContract

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest

    from exports.admin.frame import Trail


def own_destination(request: HttpRequest, destination_id: UUID, permission: str) -> Destination:
    """Return a destination within reach, for whoever has the permission; a foreign one looks missing."""
    demand(request, f"exports.{permission}")
    rows = reach(request).narrow(Destination.objects.select_related("tenant", "active_contract"))
    found = rows.filter(id=destination_id).first()
    if found is None:
        raise Http404
    return found


def own_contract(request: HttpRequest, contract_id: UUID, permission: str) -> DestinationContract:
    """Return a version of a destination within reach, for whoever has the permission."""
    demand(request, f"exports.{permission}")
    rows = DestinationContract.objects.select_related("destination__tenant", "decision")
    found = reach(request).narrow(rows, "destination__tenant_id").filter(id=contract_id).first()
    if found is None:
        raise Http404
    return found


def destination_url(destination_id: UUID, screen: str = "change") -> str:
    """Return the address of a destination's page, or of one of its screens."""
    return reverse(f"admin:exports_destination_{screen}", args=[destination_id])


def contract_url(contract_id: UUID, screen: str = "change") -> str:
    """Return the address of a version's page, or of one of its screens."""
    return reverse(f"admin:exports_destinationcontract_{screen}", args=[contract_id])


def destination_trail(destination: Destination) -> Trail:
    """Return the way to a page beneath a destination's."""
    return [
        ("Destinations", reverse("admin:exports_destination_changelist")),
        (destination.name, destination_url(destination.id)),
    ]


def person(user: Any) -> User:
    """Return who is signed in; the console opens to nobody else."""
    assert isinstance(user, User), "the console has signed them in"  # noqa: S101 - a view's bug
    return user
