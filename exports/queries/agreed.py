"""Where a destination stands: the version in force, the one that waits for a second person, and who wrote it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import DEFAULT_DB_ALIAS

from exports.models import ContractDecision, DestinationContract, DestinationSecret

if TYPE_CHECKING:
    from uuid import UUID

    from exports.models import Destination

SHOWN_VERSIONS = 20
"""Versions listed on a destination's page; the list of contracts has all."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The versions of one destination, the latest first, and which of them is in force."""

    versions: tuple[DestinationContract, ...]
    active: DestinationContract | None

    @property
    def latest(self) -> DestinationContract | None:
        """The version written last, whatever became of it."""
        return self.versions[0] if self.versions else None

    @property
    def latest_version(self) -> int:
        """Its number; 0 when there is none, which is what the first one is built upon."""
        return self.latest.version if self.latest else 0

    @property
    def pending(self) -> DestinationContract | None:
        """The version that waits for a second person: the latest one, unless it is in force or was turned down."""
        latest = self.latest
        return None if latest is None or self._is_decided(latest) else latest

    @property
    def base(self) -> DestinationContract | None:
        """What the next version starts from: what is pending, else what is in force."""
        return self.pending or self.active

    @property
    def authors(self) -> tuple[str, ...]:
        """Who wrote what is pending: each version since the last that was decided, the latest author first."""
        found: list[str] = []
        for version in self.versions:
            if self._is_decided(version):
                break
            found.append(version.created_by)
        return tuple(dict.fromkeys(found))

    def _is_decided(self, version: DestinationContract) -> bool:
        is_active = self.active is not None and self.active.id == version.id
        return is_active or decision_on(version) is not None


def standing_of(destination: Destination, using: str = DEFAULT_DB_ALIAS) -> Standing:
    """Read every version since the last decided one, and some before; two queries."""
    rows = DestinationContract.objects.using(using).filter(destination_id=destination.id)
    found = tuple(rows.select_related("decision").order_by("-version"))
    active = next((each for each in found if each.id == destination.active_contract_id), None)
    return Standing(found, active)


def decision_on(version: DestinationContract) -> ContractDecision | None:
    """Return what was decided about a version, None while nothing is."""
    try:
        return version.decision
    except ContractDecision.DoesNotExist:
        return None


def latest_secret_id(destination_id: UUID, using: str = DEFAULT_DB_ALIAS) -> str:
    """Return the id of the credential stored last, or nothing; its content is not readable here."""
    rows = DestinationSecret.objects.using(using).filter(destination_id=destination_id)
    found = rows.order_by("-created_at").values_list("id", flat=True).first()
    return "" if found is None else str(found)
