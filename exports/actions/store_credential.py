"""Seal the first credential of a destination that has no contract yet; a later one comes with a new version."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.db import DEFAULT_DB_ALIAS, transaction

from exports.managers.agreed import AgreedStatements

if TYPE_CHECKING:
    from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A credential as it is stored: nothing in it can be read without the keyring."""

    secret_id: UUID
    tenant_id: UUID
    destination_id: UUID
    ciphertext: bytes = field(repr=False)
    stored_by: str


@dataclass(frozen=True, slots=True)
class Stored:
    """It is stored, by this request or an earlier sending of it, for the next version to name."""


@dataclass(frozen=True, slots=True)
class NoSuchDestination:
    """This tenant has no such destination; nothing was written."""


def store_credential(sealed: Sealed, *, using: str = DEFAULT_DB_ALIAS) -> Stored | NoSuchDestination:
    """Store it, once; the caller has checked who does. Database errors pass through."""
    statements = AgreedStatements(using)
    with transaction.atomic(using=using, durable=True):
        if not statements.lock(tenant_id=sealed.tenant_id, destination_id=sealed.destination_id):
            return NoSuchDestination()
        statements.seal(
            secret_id=sealed.secret_id,
            destination_id=sealed.destination_id,
            ciphertext=sealed.ciphertext,
            created_by=sealed.stored_by,
        )
    return Stored()
