"""Write the next version of a destination's contract: on record for good, in force for nobody until confirmed (I7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import DEFAULT_DB_ALIAS, transaction

from exports.managers.agreed import AgreedStatements
from exports.models import DestinationContract

if TYPE_CHECKING:
    from uuid import UUID

    from exports.contracts import Contract


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One person's wish: these terms, built upon that version (0: the first); `contract_id` is their request id.

    `sealed`, when given, is a new credential: its id, which the terms name, and its encrypted form.
    """

    contract_id: UUID
    tenant_id: UUID
    destination_id: UUID
    expected_version: int
    terms: Contract
    reason: str
    proposed_by: str
    sealed: tuple[UUID, bytes] | None = None


@dataclass(frozen=True, slots=True)
class Proposed:
    """It is on record, by this request or an earlier sending of it, and waits for a second person."""

    contract: DestinationContract


@dataclass(frozen=True, slots=True)
class Overtaken:
    """Another version was written since this one's was looked at, or nothing of this tenant is there: not recorded."""

    latest: DestinationContract | None


def propose_contract(proposal: Proposal, *, using: str = DEFAULT_DB_ALIAS) -> Proposed | Overtaken:
    """Record a version, once; the caller has checked who proposes it. Database errors pass through."""
    with transaction.atomic(using=using, durable=True):
        if not _written(proposal, AgreedStatements(using)):
            transaction.set_rollback(True, using=using)
    found = DestinationContract.objects.using(using).filter(
        id=proposal.contract_id,
        destination_id=proposal.destination_id,
        created_by=proposal.proposed_by,
        reason=proposal.reason,
        terms=proposal.terms.to_json(),
    )
    mine = found.select_related("destination").first()
    return _overtaken(proposal, using) if mine is None else Proposed(mine)


def _written(proposal: Proposal, statements: AgreedStatements) -> bool:
    if not statements.lock(tenant_id=proposal.tenant_id, destination_id=proposal.destination_id):
        return False
    place: dict[str, Any] = {"destination_id": proposal.destination_id, "created_by": proposal.proposed_by}
    if proposal.sealed is not None:
        secret_id, ciphertext = proposal.sealed
        statements.seal(secret_id=secret_id, ciphertext=ciphertext, **place)
    version = statements.propose(
        contract_id=proposal.contract_id,
        expected_version=proposal.expected_version,
        terms=proposal.terms.to_json(),
        reason=proposal.reason,
        **place,
    )
    return version is not None


def _overtaken(proposal: Proposal, using: str) -> Overtaken:
    rows = DestinationContract.objects.using(using).filter(
        destination_id=proposal.destination_id, destination__tenant_id=proposal.tenant_id
    )
    return Overtaken(rows.order_by("-version").first())
