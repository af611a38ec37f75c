"""Record that a partner agreed to an overwrite: who there, when, and under which contract (I8)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from django.db import DEFAULT_DB_ALIAS, IntegrityError, transaction
from psycopg.errors import UniqueViolation

from exports.crashpoints import reach
from exports.models import OverwriteAgreement

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """One agreement about one destination; `ref` is what replacements name, `recorded_by` who writes it down here."""

    ref: str
    tenant_id: UUID
    destination_id: UUID
    agreed_by: str
    agreed_at: datetime
    under_contract: str
    recorded_by: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """It is on record, by this call or by an earlier one with the same words."""

    ref: str


@dataclass(frozen=True, slots=True)
class RefTaken:
    """The reference is that of another agreement; nothing was written."""


def record_agreement(agreement: Agreement, *, using: str = DEFAULT_DB_ALIAS) -> Recorded | RefTaken:
    """Record an agreement, once; the caller has checked who records it and that the destination is this tenant's.

    Database errors pass through: nothing is decided by this record before a replacement names it.
    """
    try:
        with transaction.atomic(using=using, durable=True):
            OverwriteAgreement.objects.using(using).create(**asdict(agreement))
        reach("agreement.after")
    except IntegrityError as error:
        if not isinstance(error.__cause__, UniqueViolation):
            raise
        same = OverwriteAgreement.objects.using(using).filter(**asdict(agreement))
        return Recorded(agreement.ref) if same.exists() else RefTaken()
    return Recorded(agreement.ref)
