"""What confirming and turning down a proposed version share: who decides about what, and what can come of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exports.models import DestinationContract
from exports.queries.agreed import decision_on, standing_of

if TYPE_CHECKING:
    from uuid import UUID

    from exports.models import ContractDecision
    from exports.states import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One person's decision about one version, which never changes: no version number has to be compared."""

    tenant_id: UUID
    contract_id: UUID
    decided_by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Decided:
    """It is decided as asked, by this request or an earlier sending of it."""

    decision: ContractDecision


@dataclass(frozen=True, slots=True)
class DecidedBefore:
    """Somebody had decided about it; nothing was written now."""

    decision: ContractDecision


@dataclass(frozen=True, slots=True)
class Superseded:
    """Another version was written since; only that one can be decided about. Nothing was written."""

    latest: DestinationContract


@dataclass(frozen=True, slots=True)
class NoSuchContract:
    """There is no such version in this tenant; nothing was written."""


@dataclass(frozen=True, slots=True)
class OnePerson:
    """Who decides wrote it, or a version it builds upon; nothing was written."""

    authors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotReady:
    """What it leads to must not be trusted yet, and why; nothing was written."""

    objections: tuple[str, ...]


Refused = DecidedBefore | Superseded | NoSuchContract | OnePerson
"""Why a decision was not recorded, whichever it was."""


def found_now(verdict: Verdict, wanted: Decision, using: str) -> Decided | Refused:
    """Say from the rows, after the write, what came of it."""
    rows = DestinationContract.objects.using(using).select_related("destination", "decision")
    asked = rows.filter(id=verdict.contract_id, destination__tenant_id=verdict.tenant_id).first()
    if asked is None:
        return NoSuchContract()
    decision = decision_on(asked)
    if decision is not None:
        same = (decision.decision, decision.decided_by, decision.reason) == (wanted, verdict.decided_by, verdict.reason)
        return Decided(decision) if same else DecidedBefore(decision)
    standing = standing_of(asked.destination, using)
    if standing.latest is not None and standing.latest.id != asked.id:
        return Superseded(standing.latest)
    return OnePerson(standing.authors)
