"""The statements of this app on one database alias: takeovers, settling and correcting, acknowledgments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exports import sql
from exports.states import FailureReason, Status, Written

if TYPE_CHECKING:
    from uuid import UUID


class Statements:
    """Runs registered statements on one alias; the row they return means that they applied."""

    def __init__(self, using: str = "default") -> None:
        self.using = using

    def _written(self, name: str, /, **params: Any) -> Written:
        return Written.REFUSED if sql.fetch_one(name, self.using, params) is None else Written.APPLIED


class Takeovers(Statements):
    """Statements of exports_worker on attempts whose lease has expired (I3); each repeats every condition."""

    def requeue(self, *, job_id: UUID, expired_attempt_id: UUID, max_attempts: int, recovery_run_id: str) -> Written:
        """Return a Running attempt's job to the queue, with a wake-up."""
        return self._written(
            "requeue",
            job_id=job_id,
            expired_attempt_id=expired_attempt_id,
            max_attempts=max_attempts,
            recovery_run_id=recovery_run_id,
        )

    def exhaust(self, *, job_id: UUID, expired_attempt_id: UUID, max_attempts: int, recovery_run_id: str) -> Written:
        """Fail a Running attempt's job that has no attempts left."""
        return self._written(
            "exhaust",
            job_id=job_id,
            expired_attempt_id=expired_attempt_id,
            max_attempts=max_attempts,
            recovery_run_id=recovery_run_id,
        )

    def stop_expired(self, *, job_id: UUID, expired_attempt_id: UUID, recovery_run_id: str) -> Written:
        """Stop a Running attempt's job that was asked to stop."""
        return self._written(
            "stop_expired",
            job_id=job_id,
            expired_attempt_id=expired_attempt_id,
            recovery_run_id=recovery_run_id,
        )

    def resolve(
        self,
        *,
        job_id: UUID,
        expired_attempt_id: UUID,
        resolution: Status,
        evidence_summary: str,
        recovery_run_id: str,
    ) -> Written:
        """End a Delivering attempt as Completed or OutcomeUnknown, with what that rests on in words."""
        return self._written(
            "resolve",
            job_id=job_id,
            expired_attempt_id=expired_attempt_id,
            resolution=resolution.value,
            evidence_summary=evidence_summary,
            recovery_run_id=recovery_run_id,
        )


class Settlements(Statements):
    """Statements of exports_reconciler, each at most once per attempt (reference: Recovery, reconciliation)."""

    def reconcile(
        self,
        *,
        tenant_id: UUID,
        job_id: UUID,
        attempt_id: UUID,
        resolution: Status,
        reconciled_by: str,
        evidence_ref: str,
        reason: str,
    ) -> Written:
        """Settle an unknown outcome as Completed, or as Failed (NotDelivered)."""
        return self._written(
            "reconcile",
            tenant_id=tenant_id,
            job_id=job_id,
            attempt_id=attempt_id,
            resolution=resolution.value,
            reconciled_by=reconciled_by,
            evidence_ref=evidence_ref,
            reason=reason,
        )

    def correct(
        self,
        *,
        tenant_id: UUID,
        job_id: UUID,
        attempt_id: UUID,
        recorded_status: Status,
        corrected_status: Status,
        failure_reason: FailureReason | None,
        corrected_by: str,
        evidence_ref: str,
        reason: str,
        allow_same_person: bool,
    ) -> Written:
        """Correct a recorded Completed or Failed; IntegrityError when another replacement holds the slot."""
        return self._written(
            "correct",
            tenant_id=tenant_id,
            job_id=job_id,
            attempt_id=attempt_id,
            recorded_status=recorded_status.value,
            corrected_status=corrected_status.value,
            failure_reason=failure_reason.value if failure_reason else None,
            corrected_by=corrected_by,
            evidence_ref=evidence_ref,
            reason=reason,
            allow_same_person=allow_same_person,
        )


class Acknowledgments(Statements):
    """Statements of exports_acknowledger: evidence once, and the one status it may bring about."""

    def collect(
        self, *, job_id: UUID, attempt_id: UUID, name: str, mark: str, observed_by: str, detail: str
    ) -> Written:
        """Append an acknowledgment the first time it is seen of this attempt."""
        return self._written(
            "collect_acknowledgment",
            job_id=job_id,
            attempt_id=attempt_id,
            name=name,
            mark=mark,
            observed_by=observed_by,
            detail=detail,
        )

    def complete_acknowledged(
        self,
        *,
        tenant_id: UUID,
        job_id: UUID,
        attempt_id: UUID,
        judged_evidence: int,
        reconciled_by: str,
        evidence_ref: str,
        reason: str,
    ) -> Written:
        """Settle an unknown outcome as Completed, on exactly so many records of evidence."""
        return self._written(
            "complete_acknowledged",
            tenant_id=tenant_id,
            job_id=job_id,
            attempt_id=attempt_id,
            judged_evidence=judged_evidence,
            reconciled_by=reconciled_by,
            evidence_ref=evidence_ref,
            reason=reason,
        )
