"""Create a destination: a name and a tenant; exports to it wait until a contract of it is confirmed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from django.db import DEFAULT_DB_ALIAS

from exports.managers.agreed import AgreedStatements
from exports.models import Destination

if TYPE_CHECKING:
    from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDestination:
    """One person's wish; `destination_id` is their request id and becomes the destination's."""

    destination_id: UUID
    tenant_id: UUID
    name: str


@dataclass(frozen=True, slots=True)
class Created:
    """It exists, by this request or an earlier sending of it."""

    destination: Destination


@dataclass(frozen=True, slots=True)
class NameTaken:
    """Another destination of the tenant has this name; nothing was written."""


@dataclass(frozen=True, slots=True)
class IdReused:
    """The id belongs to another destination; nothing was written."""


def create_destination(wanted: NewDestination, *, using: str = DEFAULT_DB_ALIAS) -> Created | NameTaken | IdReused:
    """Create it, once; the caller has checked that the tenant is theirs. Database errors pass through."""
    AgreedStatements(using).create(**asdict(wanted))
    found = Destination.objects.using(using).filter(id=wanted.destination_id).first()
    if found is None:
        return NameTaken()
    same = (found.tenant_id, found.name) == (wanted.tenant_id, wanted.name)
    return Created(found) if same else IdReused()
