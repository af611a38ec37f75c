"""Turn a proposed version down for good, by anybody who may confirm, its author too."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from django.db import DEFAULT_DB_ALIAS, transaction

from exports.actions.confirm_contract import hold_destination
from exports.actions.deciding import found_now
from exports.managers.agreed import AgreedStatements
from exports.states import Decision

if TYPE_CHECKING:
    from exports.actions.deciding import Decided, Refused, Verdict


def decline_contract(verdict: Verdict, *, using: str = DEFAULT_DB_ALIAS) -> Decided | Refused:
    """Decline a version, once; the caller has checked that they may. Database errors pass through."""
    statements = AgreedStatements(using)
    with transaction.atomic(using=using, durable=True):
        if hold_destination(verdict, statements) is not None:
            statements.decline(**asdict(verdict))
    return found_now(verdict, Decision.DECLINED, using)
