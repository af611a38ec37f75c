"""Put a proposed version in force, as a second person: claims from now on work under it, and no earlier one."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from django.db import DEFAULT_DB_ALIAS, transaction

from exports.actions.deciding import Decided, NotReady, found_now
from exports.managers.agreed import AgreedStatements
from exports.models import DestinationContract
from exports.states import Decision

if TYPE_CHECKING:
    from collections.abc import Callable

    from exports.actions.deciding import Refused, Verdict

    Judge = Callable[[DestinationContract, str], list[str]]
    """Says why a version must not come into force yet, read through an alias; nothing when it may."""


def confirm_contract(
    verdict: Verdict, *, allow_same_person: bool, judge: Judge, using: str = DEFAULT_DB_ALIAS
) -> Decided | NotReady | Refused:
    """Confirm a version, once; the caller has checked that they may. Database errors pass through.

    `allow_same_person`: its author may; the record then says so. `judge` is asked under the destination's lock.
    """
    statements = AgreedStatements(using)
    with transaction.atomic(using=using, durable=True):
        asked = hold_destination(verdict, statements)
        objections = judge(asked, using) if asked is not None and _is_open(asked) else []
        if asked is not None and not objections:
            statements.confirm(**asdict(verdict), allow_same_person=allow_same_person)
    return NotReady(tuple(objections)) if objections else found_now(verdict, Decision.CONFIRMED, using)


def hold_destination(verdict: Verdict, statements: AgreedStatements) -> DestinationContract | None:
    """Hold the destination of a version, so that what is judged next is judged by all that came before."""
    versions = DestinationContract.objects.using(statements.using)
    asked = versions.filter(id=verdict.contract_id).first()
    if asked is None or not statements.lock(tenant_id=verdict.tenant_id, destination_id=asked.destination_id):
        return None
    return asked


def _is_open(asked: DestinationContract) -> bool:
    """Whether there is anything to judge: it is the latest version, and nobody has decided about it."""
    later = type(asked).objects.using(asked._state.db).filter(destination_id=asked.destination_id)  # noqa: SLF001 - documented by Django
    return not later.filter(version__gt=asked.version).exists() and not _is_decided(asked)


def _is_decided(asked: DestinationContract) -> bool:
    return type(asked).objects.using(asked._state.db).filter(id=asked.id, decision__isnull=False).exists()  # noqa: SLF001 - the same
