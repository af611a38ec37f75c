"""One attempt's boundary writes, each under the lost-response rules (I1, I6).

Every answer here is known: applied, refused, or Unknown when neither the write nor the row could be asked. For
an attempt that no longer owns its job nothing is written to the row; evidence of what it did is still appended.
"""

from __future__ import annotations

import time
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import transaction

from exports import conf
from exports.boundary import settle
from exports.crashpoints import reach
from exports.holds.opening import hold_full
from exports.holds.slots import free_slots, is_limited, lock_gate
from exports.models import ExportAttemptEvent, ExportJob
from exports.observability import counters
from exports.states import Authorization, EventKind, FailureReason, Status, Written

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from exports.contracts import Limits as ContractLimits
    from exports.worker.builder import ExportFile

Answer = TypeVar("Answer")

CLAIM_TRY_SECONDS = 10.0
"""How long a claim is tried again after a definite refusal; the message stays unsettled and comes back."""


class Claim(StrEnum):
    """What cutoff 1 came to; FULL: the destination's contract allows no more attempts now."""

    CLAIMED = "Claimed"
    LOST = "Lost"
    FULL = "Full"
    UNKNOWN = "Unknown"


class Terminal(StrEnum):
    """What an attempt's last write came to; NOT_YET: not applied, and the attempt still owns the row."""

    APPLIED = "Applied"
    REFUSED = "Refused"
    NOT_YET = "NotYet"
    UNKNOWN = "Unknown"


class AttemptWrites:
    """The writes of one attempt of one job. `patience` says until when (monotonic) its last writes are tried."""

    def __init__(
        self, job_id: UUID, attempt_id: UUID, worker_id: str, patience: Callable[[], float], using: str = "default"
    ) -> None:
        self.job_id = job_id
        self.attempt_id = attempt_id
        self.worker_id = worker_id
        self._patience = patience
        self._using = using
        self._jobs = ExportJob.objects.db_manager(using)
        self.before_last_write: Callable[[], None] = lambda: None
        """Told that the attempt's last write is about to be sent; from there on no renewal may report a loss."""

    def claim(self, job: ExportJob, contract_id: UUID, limits: ContractLimits) -> Claim:
        """Cutoff 1. UNKNOWN leaves the message unsettled.

        A row found still Queued counts as UNKNOWN too: nobody has the job, and this message is its wake-up (I5).
        """

        def write() -> Claim:
            reach("claim.before")
            claim = (
                self._claim_under_gate(job, contract_id, limits)
                if is_limited(limits)
                else self._claim(job, contract_id)
            )
            reach("claim.after")
            return claim

        def reread() -> Claim:
            row = self._row()
            if row is not None and row["status"] == Status.QUEUED:
                return Claim.UNKNOWN
            own = row is not None and (row["status"], row["attempt_id"]) == (Status.RUNNING, self.attempt_id)
            return Claim.CLAIMED if own else Claim.LOST

        give_up_at = time.monotonic() + CLAIM_TRY_SECONDS
        answer = settle(write, reread, unknown=Claim.UNKNOWN, give_up_at=give_up_at, using=self._using)
        counters.claims.labels(answer).inc()
        return answer

    def _claim_under_gate(self, job: ExportJob, contract_id: UUID, limits: ContractLimits) -> Claim:
        """Count and take a slot under the destination's gate, so that no two claims take the last one."""
        with transaction.atomic(using=self._using):
            lock_gate(job.destination_id, self._using)
            slots = free_slots(job.destination_id, limits, self._using)
            if slots.bound_by is not None and slots.are_taken:
                hold_full(job, slots.bound_by, self.worker_id, self._using)
                return Claim.FULL
            return self._claim(job, contract_id)

    def _claim(self, job: ExportJob, contract_id: UUID) -> Claim:
        written = self._jobs.claim(
            job_id=self.job_id,
            checked_version=job.version,
            attempt_id=self.attempt_id,
            worker_id=self.worker_id,
            contract_id=contract_id,
            lease_seconds=conf.limits().lease_seconds,
        )
        return Claim.CLAIMED if written is Written.APPLIED else Claim.LOST

    def authorize(self, file: ExportFile, final_name: str, *, lease_until: float) -> Authorization:
        """Cutoff 2: cross the irreversible boundary. Tried again after a definite refusal within the lease."""

        def write() -> Authorization:
            reach("authorize.before")
            word = self._jobs.authorize_delivery(
                job_id=self.job_id,
                attempt_id=self.attempt_id,
                final_name=final_name,
                file_rows=file.rows,
                file_bytes=file.bytes,
                file_sha256=file.sha256,
            )
            reach("authorize.after")
            return word

        word = settle(
            write, self._authorization_now, unknown=Authorization.UNKNOWN, give_up_at=lease_until, using=self._using
        )
        counters.authorizations.labels(word).inc()
        return word

    def _authorization_now(self) -> Authorization:
        """Say from the row which side of cutoff 2 this attempt is on, and if before it, what refuses it.

        Not atomic with the refusal: a row that nothing refuses any more counts as LeaseLapsed, with its one
        renewal and retry.
        """
        row = self._row()
        if row is None or row["attempt_id"] != self.attempt_id:
            return Authorization.NOT_OWNER
        if row["status"] == Status.DELIVERING:
            return Authorization.AUTHORIZED
        if row["status"] != Status.RUNNING:
            return Authorization.NOT_OWNER
        if row["stop_request_id"] is not None:
            return Authorization.STOP_RECORDED
        return self._original_or_lease(row)

    def _original_or_lease(self, row: dict[str, Any]) -> Authorization:
        original = self._jobs.filter(id=row["replaces_job_id"], tenant_id=row["tenant_id"])
        if row["replaces_job_id"] and original.filter(status=Status.COMPLETED).exists():
            return Authorization.ORIGINAL_COMPLETED
        return Authorization.LEASE_LAPSED

    def finish_stopped(self, stop_point: str) -> Terminal:
        """Move Running → Stopped, where a stop request is recorded."""
        return self._terminal(
            "stopped",
            Status.RUNNING,
            Status.STOPPED,
            lambda: self._jobs.finish_stopped(
                job_id=self.job_id, attempt_id=self.attempt_id, worker_id=self.worker_id, stop_point=stop_point
            ),
        )

    def finish_failed(self, reason: FailureReason, detail: str | None) -> Terminal:
        """Move Running → Failed with its code; nothing has left the process."""
        return self._terminal(
            "failed",
            Status.RUNNING,
            Status.FAILED,
            lambda: self._jobs.finish_failed(
                job_id=self.job_id, attempt_id=self.attempt_id, worker_id=self.worker_id, reason=reason, detail=detail
            ),
            reason,
        )

    def finish_delivery(self, outcome: Status, reason: FailureReason | None, detail: str) -> Terminal:
        """Move Delivering → Completed, Failed with its code, or OutcomeUnknown."""
        return self._terminal(
            "finished",
            Status.DELIVERING,
            outcome,
            lambda: self._jobs.finish_delivery(
                job_id=self.job_id,
                attempt_id=self.attempt_id,
                worker_id=self.worker_id,
                outcome=outcome,
                reason=reason,
                detail=detail,
            ),
            reason,
        )

    def return_lease(self) -> Terminal:
        """Give a Running attempt back to recovery, unburnt."""
        return self._terminal(
            "returned",
            Status.RUNNING,
            Status.RUNNING,
            lambda: self._jobs.return_lease(job_id=self.job_id, attempt_id=self.attempt_id),
        )

    def append(self, detail: str) -> bool:
        """Append evidence of this attempt, whoever owns the job now; whether it is certainly recorded."""
        events = ExportAttemptEvent.objects.db_manager(self._using)

        def write() -> bool | None:
            reach("evidence.before")
            written = events.append_evidence(
                job_id=self.job_id, attempt_id=self.attempt_id, observed_by=self.worker_id, detail=detail
            )
            reach("evidence.after")
            return written is Written.APPLIED

        def reread() -> bool | None:
            return (
                events.filter(
                    job_id=self.job_id, attempt_id=self.attempt_id, kind=EventKind.DELIVERY_EVIDENCE, detail=detail
                ).exists()
                or None
            )

        unknown: bool | None = None
        return bool(self._persist(write, reread, unknown=unknown, open_ends={unknown}))

    def _terminal(
        self,
        point: str,
        before: Status,
        after: Status,
        statement: Callable[[], Written],
        reason: FailureReason | None = None,
    ) -> Terminal:
        """Write the attempt's last word; while it is certainly not applied and still ours, try again."""

        def write() -> Terminal:
            reach(f"{point}.before")
            written = statement()
            reach(f"{point}.after")
            return Terminal.APPLIED if written is Written.APPLIED else Terminal.REFUSED

        def reread() -> Terminal:
            if before != after and self._stands(after):
                return Terminal.APPLIED
            return Terminal.NOT_YET if self._stands(before) else Terminal.REFUSED

        self.before_last_write()
        open_ends = {Terminal.NOT_YET, Terminal.UNKNOWN}
        end = self._persist(write, reread, unknown=Terminal.UNKNOWN, open_ends=open_ends)
        counters.terminal_writes.labels(after, reason or "", end).inc()
        return end

    def _persist(
        self, write: Callable[[], Answer], reread: Callable[[], Answer], *, unknown: Answer, open_ends: set[Answer]
    ) -> Answer:
        """Write until an end is not open any more, or patience is over; before each further try the row is asked.

        What got no answer may have been applied: written again it would be refused, or recorded a second time.
        """
        give_up_at = self._patience()
        settled = partial(settle, unknown=unknown, give_up_at=give_up_at, using=self._using)
        end = settled(write, reread)
        while end in open_ends and time.monotonic() < give_up_at:
            end = settled(reread, reread)
            if end in open_ends:
                end = settled(write, reread)
        return end

    def _stands(self, status: Status) -> bool:
        """Read state and ownership together."""
        return bool(self._jobs.filter(id=self.job_id, attempt_id=self.attempt_id, status=status).exists())

    def _row(self) -> dict[str, Any] | None:
        fields = ("tenant_id", "status", "attempt_id", "stop_request_id", "replaces_job_id")
        row: dict[str, Any] | None = self._jobs.filter(id=self.job_id).values(*fields).first()
        return row
