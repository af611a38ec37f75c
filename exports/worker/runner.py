"""A wake-up, from the message to the confirmed claim (reference: The Worker).

The message is a hint: everything starts from the row. It is settled as soon as the row carries the work, or
shows that there is none; a claim that could not be confirmed leaves it unsettled, to be delivered again.
"""

from __future__ import annotations

import logging
import time
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, assert_never

from django.db import close_old_connections
from structlog.contextvars import bound_contextvars

from exports.crashpoints import reach
from exports.disposition import Disposition
from exports.models import ExportJob
from exports.observability import counters
from exports.states import Status
from exports.worker import process
from exports.worker.alone import ALONE_FROM_ATTEMPTS, run_alone
from exports.worker.attempt import Attempt
from exports.worker.policy import KINDS, Allow, Hold, Reject, policy
from exports.worker.writes import AttemptWrites, Claim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from uuid import UUID

    from exports.worker.drain import Drain
    from exports.worker.process import WorkerProcess

logger = logging.getLogger(__name__)


def run_wake_up(job_id: UUID, settle_message: Callable[[], None], *, drain: Drain, alone: bool = False) -> Disposition:
    """Take one wake-up as far as it goes; UNSETTLED asks for its redelivery."""
    with bound_contextvars(job_id=str(job_id)), _fresh_connection():
        return WakeUp(job_id, settle_message, process.of_this_process(drain, alone=alone)).run()


@contextmanager
def _fresh_connection() -> Iterator[None]:
    """Let no broken or too old connection of this pool thread into the work."""
    close_old_connections()
    try:
        yield
    finally:
        close_old_connections()


class WakeUp:
    """One message for one job in one worker process."""

    def __init__(self, job_id: UUID, settle_message: Callable[[], None], worker: WorkerProcess) -> None:
        self.job_id = job_id
        self.worker = worker
        self._settle_message = settle_message

    def run(self) -> Disposition:
        """Find, ask policy, and act on its decision."""
        if self.worker.drain.has_begun:
            return Disposition.UNSETTLED
        job = ExportJob.objects.using(self.worker.using).filter(id=self.job_id).first()
        if job is None or job.status != Status.QUEUED:
            return self._settled()
        decision = policy().evaluate(job, self.worker.using)
        counters.policy_decisions.labels(type(decision).__name__).inc()
        match decision:
            case Allow() as allowed:
                return self._attempt(job, allowed)
            case Reject() as refused:
                return self._reject(job, refused)
            case Hold() as hold:
                logger.info("export_held", extra={"tenant_id": str(job.tenant_id), "reason": hold.reason})
                return self._settled()
            case never:
                assert_never(never)

    def _reject(self, job: ExportJob, refused: Reject) -> Disposition:
        jobs = ExportJob.objects.db_manager(self.worker.using)
        reach("reject.before")
        jobs.reject(job_id=job.id, checked_version=job.version, reasons=refused.reasons)
        reach("reject.after")
        for reason in refused.reasons:
            counters.rejections.labels(KINDS.get(reason, "own_policy")).inc()
        logger.info("export_rejected", extra={"tenant_id": str(job.tenant_id), "reasons": refused.reasons})
        return self._settled()

    def _attempt(self, job: ExportJob, allowed: Allow) -> Disposition:
        """Claim, settle, run; a job that has used up attempts does so in a process of its own."""
        if job.attempt_count >= ALONE_FROM_ATTEMPTS and not self.worker.alone:
            close_old_connections()
            return run_alone(job.id, self._settle_message, self.worker.drain)
        attempt_id = uuid.uuid4()
        worker = self.worker
        writes = AttemptWrites(job.id, attempt_id, worker.worker_id, lambda: worker.drain.ends_at, worker.using)
        sent_at = time.monotonic()
        claim = writes.claim(job, allowed.contract_id, allowed.contract.limits)
        if claim is Claim.UNKNOWN:
            return Disposition.UNSETTLED
        disposition = self._settled()
        if claim is Claim.CLAIMED:
            with bound_contextvars(attempt_id=str(attempt_id), tenant_id=str(job.tenant_id)):
                logger.info("export_claimed", extra={"attempt": job.attempt_count + 1})
                Attempt(job, allowed, writes, worker).run(claimed_at=sent_at)
        return disposition

    def _settled(self) -> Disposition:
        """Settle the message: from here on the row, not the message, carries the job."""
        reach("settle.before")
        self._settle_message()
        reach("settle.after")
        return Disposition.SETTLED
