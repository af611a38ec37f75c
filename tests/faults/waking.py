"""Wake-ups run by the worker's own code, in this process, as exports_worker."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from django.db import connections

from exports.worker.drain import Drain
from exports.worker.process import WorkerProcess
from exports.worker.runner import WakeUp

if TYPE_CHECKING:
    from collections.abc import Callable

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
