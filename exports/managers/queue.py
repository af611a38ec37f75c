"""What keeps a queued export awake: edits of its terms, and the sweeper (I5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from exports import sql
from exports.managers.base import StatementManager

if TYPE_CHECKING:
    from uuid import UUID


class QueueStatements(StatementManager):
    """Statements that leave an export Queued, each with a wake-up of its own."""

    def change_terms(
        self,
        *,
        tenant_id: UUID,
        job_id: UUID,
        destination_id: UUID,
        expected_version: int,
        changed_by: str,
        reason: str | None,
    ) -> int | None:
        """Move a queued original to another destination; return the new version, or None: nothing changed."""
        row = self.one(
            "change_terms",
            tenant_id=tenant_id,
            job_id=job_id,
            destination_id=destination_id,
            expected_version=expected_version,
            changed_by=changed_by,
            reason=reason,
        )
        return None if row is None else int(row[0])

    def sweep(self, *, sweep_after_seconds: float, batch: int) -> list[UUID]:
        """Wake up to `batch` queued exports whose last wake-up is older than the bound; return their ids."""
        return self.ids("sweep", sweep_after_seconds=sweep_after_seconds, batch=batch)


class WakeUp(NamedTuple):
    """One unpublished wake-up; its message's id in the broker is its own."""

    message_id: UUID
    job_id: UUID
    tenant_id: UUID


class OutboxManager(StatementManager):
    """The dispatcher's two statements."""

    def take(self, *, batch: int, after_tenant: UUID) -> list[WakeUp]:
        """Lock up to `batch` unpublished wake-ups until the transaction ends, in rounds over tenants.

        The first round begins with the tenant after `after_tenant`, in the order of their ids.
        """
        taken = sql.fetch_all("take_outbox", self.db, {"batch": batch, "after_tenant": after_tenant})
        return [WakeUp(*row) for row in taken]

    def waits(self) -> bool:
        """Whether any wake-up is unpublished."""
        return self.filter(published_at=None).exists()

    def mark_published(self, *, message_ids: list[UUID]) -> list[UUID]:
        """Mark wake-ups the broker has accepted; return those that were not marked before."""
        return self.ids("mark_published", message_ids=message_ids)
