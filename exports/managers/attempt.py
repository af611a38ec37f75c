"""An attempt's own writes, each fenced by its attempt id (I1, I2, I4)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from exports.managers.base import StatementManager
from exports.states import Authorization, FailureReason, Status, Written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID


class AttemptStatements(StatementManager):
    """Statements of exports_worker, from the claim to the terminal write. Leases are in seconds."""

    def claim(
        self,
        *,
        job_id: UUID,
        checked_version: int,
        attempt_id: UUID,
        worker_id: str,
        contract_id: UUID,
        lease_seconds: float,
    ) -> Written:
        """Cutoff 1: take a queued export for this attempt, in the version policy evaluated."""
        return self.written(
            "claim",
            job_id=job_id,
            checked_version=checked_version,
            attempt_id=attempt_id,
            worker_id=worker_id,
            contract_id=str(contract_id),
            lease_seconds=lease_seconds,
        )

    def authorize_delivery(
        self, *, job_id: UUID, attempt_id: UUID, final_name: str, file_rows: int, file_bytes: int, file_sha256: bytes
    ) -> Authorization:
        """Cutoff 2: cross the irreversible boundary, or say in one word why not."""
        row = self.one(
            "authorize_delivery",
            job_id=job_id,
            attempt_id=attempt_id,
            final_name=final_name,
            file_rows=file_rows,
            file_bytes=file_bytes,
            file_sha256=file_sha256,
        )
        assert row is not None, "the statement always answers with one word"  # noqa: S101 - only a bug
        return Authorization(row[0])

    def reject(self, *, job_id: UUID, checked_version: int, reasons: Sequence[str]) -> Written:
        """Record policy's refusal and its reasons, for the version evaluated."""
        return self.written("reject", job_id=job_id, checked_version=checked_version, reasons=json.dumps(list(reasons)))

    def finish_stopped(self, *, job_id: UUID, attempt_id: UUID, worker_id: str, stop_point: str) -> Written:
        """End a Running attempt whose stop was requested."""
        return self.written(
            "finish_stopped", job_id=job_id, attempt_id=attempt_id, worker_id=worker_id, stop_point=stop_point
        )

    def finish_failed(
        self, *, job_id: UUID, attempt_id: UUID, worker_id: str, reason: FailureReason, detail: str | None
    ) -> Written:
        """End a Running attempt that failed before anything left the process."""
        return self.written(
            "finish_failed",
            job_id=job_id,
            attempt_id=attempt_id,
            worker_id=worker_id,
            failure_reason=reason.value,
            detail=detail,
        )

    def finish_delivery(
        self,
        *,
        job_id: UUID,
        attempt_id: UUID,
        worker_id: str,
        outcome: Status,
        reason: FailureReason | None,
        detail: str,
    ) -> Written:
        """End a Delivering attempt with what is known: Completed, Failed with a code, or OutcomeUnknown."""
        return self.written(
            "finish_delivery",
            job_id=job_id,
            attempt_id=attempt_id,
            worker_id=worker_id,
            outcome=outcome.value,
            failure_reason=reason.value if reason else None,
            detail=detail,
        )

    def renew_lease(self, *, job_id: UUID, attempt_id: UUID, lease_seconds: float) -> Written:
        """Extend the lease; REFUSED means a takeover has ended this attempt's ownership (I3)."""
        return self.written("renew_lease", job_id=job_id, attempt_id=attempt_id, lease_seconds=lease_seconds)

    def return_lease(self, *, job_id: UUID, attempt_id: UUID) -> Written:
        """Give a Running attempt back, so that recovery requeues it without burning it."""
        return self.written("return_lease", job_id=job_id, attempt_id=attempt_id)
