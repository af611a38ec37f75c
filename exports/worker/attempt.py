"""One claimed attempt: lease, stop signal, preparation, delivery and end (reference: The Worker)."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from exports.boundary import ask
from exports.holds.slots import is_limited
from exports.holds.waking import feed
from exports.worker.delivering import deliver
from exports.worker.preparing import prepare
from exports.worker.progress import Tally
from exports.worker.stop import StopSignal, StopWhy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from exports.models import ExportJob
    from exports.worker.keeper import HeldLease
    from exports.worker.policy import Allow
    from exports.worker.process import WorkerProcess
    from exports.worker.writes import AttemptWrites

Answer = TypeVar("Answer")
logger = logging.getLogger(__name__)


class Attempt:
    """From the confirmed claim to the attempt's last write.

    `stop` is set by a recorded stop request, by a lease lost to a takeover, or at the drain bound. It ends a
    preparation; once delivery is authorized nothing obeys it any more.
    """

    def __init__(self, job: ExportJob, allowed: Allow, writes: AttemptWrites, worker: WorkerProcess) -> None:
        self.job = job
        self.contract_id = allowed.contract_id
        self.contract = allowed.contract
        self.writes = writes
        self.worker = worker
        self.stop = StopSignal()
        self.tally = Tally()
        self.lease: HeldLease

    @property
    def final_name(self) -> str:
        """The name the partner will see: a function of the delivery key alone (I8)."""
        return self.contract.final_name(self.job.delivery_key)

    def ask(self, question: Callable[[], Answer]) -> Answer:
        """Ask the database something between the attempt's writes, for as long as the lease is certainly current."""
        return ask(question, give_up_at=self.lease.current_until, using=self.worker.using)

    def run(self, *, claimed_at: float) -> None:
        """Prepare, and where cutoff 2 let it pass, deliver. `claimed_at` is monotonic, from before the claim."""
        try:
            with self._watched(claimed_at):
                prepared = prepare(self)
                if prepared is not None:
                    deliver(self, prepared)
        finally:
            if is_limited(self.contract.limits):
                feed(self.job.destination_id, self.contract.limits, self.worker.using)

    @contextmanager
    def _watched(self, claimed_at: float) -> Iterator[None]:
        """Keep the lease, watch for stop requests and for the drain bound, until the attempt's last write."""
        job_id, attempt_id, worker = self.job.id, self.writes.attempt_id, self.worker
        self.lease = worker.keeper.hold(job_id, attempt_id, partial(self.stop.set, StopWhy.LEASE_LOST), claimed_at)
        self.writes.before_last_write = self.lease.expect_end
        worker.watcher.watch(job_id, attempt_id, partial(self.stop.set, StopWhy.STOP_REQUESTED), self.tally)
        take_back = worker.drain.at_the_bound(partial(self.stop.set, StopWhy.DRAINING))
        try:
            yield
        finally:
            take_back()
            worker.watcher.forget(attempt_id)
            self.lease.finish()
