"""The stop watcher: one thread and one connection a process look for stop requests of running attempts.

It is for speed, not for correctness: cutoff 2 refuses a stopped export whether or not the watcher saw it.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from django.db import close_old_connections, connections

from exports.conf import limits
from exports.models import ExportJob

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

logger = logging.getLogger(__name__)


class StopWatcher:
    """Polls all watched attempts in one query; started with the first of them, it idles without any."""

    def __init__(self, using: str = "default") -> None:
        self._using = using
        self._watched: dict[UUID, tuple[UUID, Callable[[], None]]] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def watch(self, job_id: UUID, attempt_id: UUID, stop: Callable[[], None]) -> None:
        """Call `stop` once when a stop request for this attempt's job is seen."""
        with self._changed:
            self._watched[attempt_id] = (job_id, stop)
            self._ensure_thread()
            self._changed.notify()

    def forget(self, attempt_id: UUID) -> None:
        """Stop watching an attempt; harmless when it is not watched."""
        with self._changed:
            self._watched.pop(attempt_id, None)

    def _ensure_thread(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="stop-watcher", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            self._wait_for_work()
            pause.wait(limits().stop_poll_seconds)
            try:
                self._look()
            except Exception as error:  # noqa: BLE001 - the one thread that watches must outlive anything
                logger.warning("stop_requests_not_seen", extra={"error": type(error).__name__})
                connections[self._using].close()

    def _wait_for_work(self) -> None:
        with self._changed:
            if not self._watched:
                connections[self._using].close()  # an idle watcher keeps no session
                self._changed.wait_for(lambda: self._watched)

    def _look(self) -> None:
        close_old_connections()
        with self._changed:
            watched = dict(self._watched)
        asked = ExportJob.objects.using(self._using).filter(
            attempt_id__in=list(watched), id__in=[job_id for job_id, _ in watched.values()]
        )
        for attempt_id in asked.exclude(stop_request_id=None).values_list("attempt_id", flat=True):
            self.forget(attempt_id)
            watched[attempt_id][1]()
