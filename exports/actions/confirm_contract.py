"""Put a proposed version in force, as a second person: claims from now on work under it, and no earlier one."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from django.db import DEFAULT_DB_ALIAS, transaction

from exports.actions.deciding import found_now
from exports.managers.agreed import AgreedStatements
from exports.models import DestinationContract
from exports.states import Decision

if TYPE_CHECKING:
    from uuid import UUID

    from exports.actions.deciding import Decided, DecidedBefore, NoSuchContract, OnePerson, Superseded, Verdict


def confirm_contract(
    verdict: Verdict, *, allow_same_person: bool, using: str = DEFAULT_DB_ALIAS
) -> Decided | DecidedBefore | Superseded | NoSuchContract | OnePerson:
    """Confirm a version, once; the caller has checked that they may. Database errors pass through.

    `allow_same_person`: its author may; the record then says so.
    """
    statements = AgreedStatements(using)
    with transaction.atomic(using=using, durable=True):
        if hold_destination(verdict.tenant_id, verdict.contract_id, statements):
            statements.confirm(**asdict(verdict), allow_same_person=allow_same_person)
    return found_now(verdict, Decision.CONFIRMED, using)


def hold_destination(tenant_id: UUID, contract_id: UUID, statements: AgreedStatements) -> bool:
    """Hold the destination of a version, so that what is judged next is judged by all that came before."""
    rows = DestinationContract.objects.using(statements.using).filter(id=contract_id)
    destination_id = rows.values_list("destination_id", flat=True).first()
    return destination_id is not None and statements.lock(tenant_id=tenant_id, destination_id=destination_id)
