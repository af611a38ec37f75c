"""The statements about destinations and their contracts: none of them touches an export (I7).

They stand apart from the registry of exports/sql, which is that of the five tables.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from django.db import connections

from exports import sql

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

AGREED: Final = {path.stem: sql.load(path) for path in sorted(Path(sql.__file__).parent.glob("agreed/*.sql"))}
"""Statement by name."""


class AgreedStatements:
    """One method a statement, on one database alias; those that say so run in a transaction that holds the lock."""

    def __init__(self, using: str) -> None:
        self.using = using

    def lock(self, *, tenant_id: UUID, destination_id: UUID) -> bool:
        """Hold the destination until the transaction ends; False: this tenant has no such destination."""
        return self._one("lock_destination", tenant_id=tenant_id, destination_id=destination_id) is not None

    def create(self, *, tenant_id: UUID, destination_id: UUID, name: str) -> bool:
        """Create a destination without a contract; False: the id or the name is taken."""
        wanted = {"tenant_id": tenant_id, "destination_id": destination_id, "name": name}
        return self._one("create_destination", **wanted) is not None

    def change(
        self, *, tenant_id: UUID, destination_id: UUID, found: tuple[str, bool], wanted: tuple[str, bool]
    ) -> bool:
        """Change name and state from what was looked at; False: it was changed since, or the name is taken."""
        names = {"found_name": found[0], "found_enabled": found[1], "name": wanted[0], "is_enabled": wanted[1]}
        return self._one("change_destination", tenant_id=tenant_id, destination_id=destination_id, **names) is not None

    def seal(self, *, secret_id: UUID, destination_id: UUID, ciphertext: bytes, created_by: str) -> bool:
        """Store a sealed credential, under the lock; False: the id is taken."""
        row = {"secret_id": secret_id, "destination_id": destination_id, "ciphertext": ciphertext}
        return self._one("seal_credential", created_by=created_by, **row) is not None

    def propose(
        self,
        *,
        contract_id: UUID,
        destination_id: UUID,
        expected_version: int,
        terms: dict[str, Any],
        reason: str,
        created_by: str,
    ) -> int | None:
        """Write the version after the expected one, under the lock; None: it is not the latest, or the id is taken."""
        row = self._one(
            "propose_contract",
            contract_id=contract_id,
            destination_id=destination_id,
            expected_version=expected_version,
            terms=json.dumps(terms),
            reason=reason,
            created_by=created_by,
        )
        return None if row is None else int(row[0])

    def confirm(
        self, *, tenant_id: UUID, contract_id: UUID, decided_by: str, reason: str, allow_same_person: bool
    ) -> bool:
        """Put a version in force, under the lock; False: not the latest, decided, or by one of its authors."""
        return (
            self._one(
                "confirm_contract",
                tenant_id=tenant_id,
                contract_id=contract_id,
                decided_by=decided_by,
                reason=reason,
                allow_same_person=allow_same_person,
            )
            is not None
        )

    def decline(self, *, tenant_id: UUID, contract_id: UUID, decided_by: str, reason: str) -> bool:
        """Turn a version down for good, under the lock; False: not the latest, or decided."""
        wanted = {"tenant_id": tenant_id, "contract_id": contract_id, "decided_by": decided_by, "reason": reason}
        return self._one("decline_contract", **wanted) is not None

    def _one(self, name: str, /, **params: Any) -> sql.Row | None:
        return _run(name, self.using, params)


def _run(name: str, using: str, params: Mapping[str, Any]) -> sql.Row | None:
    with connections[using].cursor() as cursor:
        cursor.execute(AGREED[name].text, params)
        row: sql.Row | None = cursor.fetchone()
    return row
