"""May this export go out now? Evaluated from the row, before the claim, without side effects.

A duplicate wake-up repeats the evaluation, so it reads and decides, and nothing it does may need to happen
exactly once. A company with rules of its own sets EXPORT_POLICY to a class with the same `evaluate`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, cast

from django.utils.module_loading import import_string

from exports.conf import limits
from exports.contracts import Contract, ContractError
from exports.holds.reading import hold_on
from exports.models import Destination, DestinationContract, ExportJob, Tenant

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID


@dataclass(frozen=True, slots=True)
class Allow:
    """It may go out, under this version of the destination's contract."""

    contract_id: UUID
    contract: Contract


@dataclass(frozen=True, slots=True)
class Reject:
    """It may never go out in this version of its terms; the reasons are kept."""

    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hold:
    """Not now: it stays queued, and whatever ends the hold writes its wake-up."""

    reason: str
    until: datetime | None = None


Decision = Allow | Reject | Hold

TENANT_NOT_ACTIVE = "The tenant is not active."
NO_DESTINATION = "The destination does not exist for this tenant."
DESTINATION_DISABLED = "The destination is disabled."
KINDS = {
    TENANT_NOT_ACTIVE: "tenant_not_active",
    NO_DESTINATION: "no_destination",
    DESTINATION_DISABLED: "destination_disabled",
}
"""What a reason is counted as; those of a policy of one's own are counted together, for they may say anything."""


class Policy(Protocol):
    """What EXPORT_POLICY must name."""

    def evaluate(self, job: ExportJob, using: str) -> Decision:
        """Decide about a queued export as it is now; database errors pass through."""


class BuiltInPolicy:
    """An active tenant, an enabled destination of its own with an active contract, and no hold."""

    def evaluate(self, job: ExportJob, using: str) -> Decision:
        """Reject what can never go out, hold what may not go now, allow the rest."""
        destination = (
            Destination.objects.using(using)
            .select_related("active_contract", "tenant")
            .filter(id=job.destination_id, tenant_id=job.tenant_id)
            .first()
        )
        tenant = destination.tenant if destination else Tenant.objects.using(using).filter(id=job.tenant_id).first()
        reasons = tuple(self._objections(tenant, destination))
        if reasons or destination is None:
            return Reject(reasons)
        if (hold := hold_on(job, using)) is not None:
            return Hold(hold.reason, hold.until)
        contract = destination.active_contract
        if contract is None:
            return Hold("The destination has no active contract.")
        return allow_under(contract)

    def _objections(self, tenant: Tenant | None, destination: Destination | None) -> list[str]:
        found = []
        if tenant is None or not tenant.is_active:
            found.append(TENANT_NOT_ACTIVE)
        if destination is None:
            found.append(NO_DESTINATION)
        elif not destination.is_enabled:
            found.append(DESTINATION_DISABLED)
        return found


def allow_under(contract: DestinationContract) -> Allow | Hold:
    """Allow under this recorded contract version; hold under one that this release cannot read."""
    try:
        return Allow(contract.id, _read(json.dumps(contract.terms)))
    except ContractError as error:
        return Hold(f"The destination's contract cannot be read: {error}")


@lru_cache(maxsize=256)
def _read(terms: str) -> Contract:
    """Read terms once a process: every export of a destination asks for the same ones, checked rule by rule."""
    return Contract.from_json(json.loads(terms))


def policy() -> Policy:
    """Return the policy this deployment is set to."""
    return cast("Policy", import_string(limits().policy)())
