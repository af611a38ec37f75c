"""Wake-ups run by the worker's own code, in this process, as exports_worker."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from django.db import connections

from exports import crashpoints
from exports.worker.drain import Drain
from exports.worker.process import WorkerProcess
from exports.worker.runner import WakeUp
from tests.faults.observing import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from exports.disposition import Disposition
    from exports.models import ExportJob

Result = TypeVar("Result")


class Message:
    """A broker's message: settled at most once."""

    def __init__(self) -> None:
        self.settled = 0

    def settle(self) -> None:
        """Take it from the broker for good."""
        self.settled += 1


class Waking:
    """Takes wake-ups as a worker process would, one after the other or at the same time."""

    def __init__(self) -> None:
        self.message = Message()
        self.drain = Drain()
        self._workers: dict[str, WorkerProcess] = {}
        self._pool = ThreadPoolExecutor(thread_name_prefix="waking")

    def worker(self, using: str = "worker") -> WorkerProcess:
        """Return this process's worker on an alias, with its one keeper and watcher."""
        if using not in self._workers:
            self._workers[using] = WorkerProcess(self.drain, alone=True, using=using)
        return self._workers[using]

    def run(self, job: ExportJob, using: str = "worker") -> Disposition:
        """Take one wake-up as far as it goes, in this thread."""
        return WakeUp(job.id, self.message.settle, self.worker(using)).run()

    def start(self, job: ExportJob, using: str = "worker") -> Future[Disposition]:
        """Take one wake-up in a thread of its own, so that the test can look on."""
        return self.call(lambda: self.run(job, using), using)

    def call(self, work: Callable[[], Result], using: str = "worker") -> Future[Result]:
        """Do something else in a thread of its own."""
        return self._pool.submit(_in_thread, work, using)

    def end(self) -> None:
        """Wait for everything that was started."""
        self._pool.shutdown(wait=True)
        for using in self._workers:
            connections[using].close()


def _in_thread(work: Callable[[], Result], using: str) -> Result:
    """Run in a thread that leaves no connection behind."""
    try:
        return work()
    finally:
        for alias in (using, "default"):
            connections[alias].close()


class Stand:
    """Holds whoever is first to reach a named point until it is let go; the test sees that it stands there."""

    def __init__(self, point: str) -> None:
        self.point = point
        self._reached = threading.Event()
        self._let_go = threading.Event()

    def __call__(self) -> None:
        if self._reached.is_set():
            return
        self._reached.set()
        assert self._let_go.wait(PATIENCE_SECONDS), f"nobody let the attempt go on from {self.point}"

    def wait(self) -> None:
        """Wait until somebody stands at the point."""
        assert self._reached.wait(PATIENCE_SECONDS), f"{self.point} was never reached"

    def let_go(self) -> None:
        """Let it go on, now and every later time."""
        self._let_go.set()


@contextmanager
def standing_at(point: str) -> Iterator[Stand]:
    """Hold the attempt at a point for the time of the block, or until it is let go earlier."""
    stand = Stand(point)
    crashpoints.arm(point, stand)
    try:
        yield stand
    finally:
        stand.let_go()
        crashpoints.disarm(point)
