"""Rename a destination, close it to new exports or open it again; where it leads is its contract's business."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import DEFAULT_DB_ALIAS, IntegrityError, transaction
from psycopg.errors import UniqueViolation

from exports.managers.agreed import AgreedStatements
from exports.models import Destination

if TYPE_CHECKING:
    from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationChange:
    """One person's wish: name and state as they were looked at, and as they are to be."""

    tenant_id: UUID
    destination_id: UUID
    found: tuple[str, bool]
    wanted: tuple[str, bool]


@dataclass(frozen=True, slots=True)
class Changed:
    """It is as wanted, by this request or an earlier sending of it."""


@dataclass(frozen=True, slots=True)
class ChangedSince:
    """Somebody changed it since it was looked at; `destination` is how it is now, None when it is not there."""

    destination: Destination | None


@dataclass(frozen=True, slots=True)
class NameTaken:
    """Another destination of the tenant has this name; nothing was written."""


def change_destination(
    change: DestinationChange, *, using: str = DEFAULT_DB_ALIAS
) -> Changed | ChangedSince | NameTaken:
    """Change it from what was looked at; the caller has checked that it is theirs. Database errors pass through."""
    place = {"tenant_id": change.tenant_id, "destination_id": change.destination_id}
    try:
        with transaction.atomic(using=using):
            is_changed = AgreedStatements(using).change(found=change.found, wanted=change.wanted, **place)
    except IntegrityError as error:
        if not isinstance(error.__cause__, UniqueViolation):
            raise
        return NameTaken()  # by somebody in this very moment
    if is_changed:
        return Changed()
    now = Destination.objects.using(using).filter(id=change.destination_id, tenant_id=change.tenant_id).first()
    if now is None or (now.name, now.is_enabled) not in (change.found, change.wanted):
        return ChangedSince(now)
    return Changed() if (now.name, now.is_enabled) == change.wanted else NameTaken()
