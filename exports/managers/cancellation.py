"""The parts of a cancellation, run by the action in one short transaction (reference: Recording Cancellation)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exports.managers.base import StatementManager

if TYPE_CHECKING:
    from uuid import UUID

    from exports.states import Written


class CancellationStatements(StatementManager):
    """Statements of exports_api on the job row while its lock is held."""

    def lock_for_cancellation(self, *, tenant_id: UUID, job_id: UUID) -> Any | None:
        """Lock this tenant's job row until the transaction ends and return it; None looks like a missing one."""
        row = self.one("lock_for_cancellation", tenant_id=tenant_id, job_id=job_id)
        return None if row is None else self.model(*row)

    def cancel_queued(self, *, tenant_id: UUID, job_id: UUID, request_id: UUID) -> Written:
        """Move the locked, queued job to Canceled in the name of this request."""
        return self.written("cancel_queued", tenant_id=tenant_id, job_id=job_id, request_id=request_id)

    def request_stop(self, *, tenant_id: UUID, job_id: UUID, request_id: UUID) -> Written:
        """Record the first stop request on the locked, running job."""
        return self.written("request_stop", tenant_id=tenant_id, job_id=job_id, request_id=request_id)


class CancellationRequestManager(StatementManager):
    """The record of every click."""

    def record(self, **values: Any) -> Any:
        """Write the click, what it found and its outcome; IntegrityError when the id is taken in the tenant."""
        row = self.one("record_cancellation", **values)
        assert row is not None, "an INSERT of one row returns it or raises"  # noqa: S101 - only a bug
        return self.model(*row)
