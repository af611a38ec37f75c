"""The stop watcher: one thread and one connection a process look for stop requests of running attempts.

It is for speed, not for correctness: cutoff 2 refuses a stopped export whether or not the watcher saw it. While it
is there, it also tells how far the attempts are.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.db import close_old_connections, connections

from exports.conf import limits
from exports.models import ExportJob
from exports.worker import progress

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from uuid import UUID

logger = logging.getLogger(__name__)

TELL_SECONDS: Final = 1.0
"""Progress is told no more often than this, however often stop requests are looked for: a person reads it."""


@dataclass(slots=True)
class _Watched:
    job_id: UUID
    stop: Callable[[], None]
    tally: progress.Tally
    told: progress.Count | None = None


_Attempts = dict[Any, _Watched]


class StopWatcher:
    """Polls all watched attempts in one query; started with the first of them, it idles without any."""

    def __init__(self, using: str = "default") -> None:
        self._using = using
        self._watched: _Attempts = {}
        self._over: set[UUID] = set()
        self._tell_at = time.monotonic()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def watch(
        self, job_id: UUID, attempt_id: UUID, stop: Callable[[], None], tally: progress.Tally | None = None
    ) -> None:
        """Call `stop` once when a stop request for this attempt's job is seen; tell what `tally` counts."""
        with self._changed:
            self._watched[attempt_id] = _Watched(job_id, stop, tally or progress.Tally())
            self._ensure_thread()
            self._changed.notify()

    def forget(self, attempt_id: UUID) -> None:
        """Stop watching an attempt; harmless when it is not watched."""
        with self._changed:
            gone = self._watched.pop(attempt_id, None)
            if gone is not None and gone.told is not None:
                self._over.add(attempt_id)

    def _ensure_thread(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="stop-watcher", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            self._wait_for_work()
            pause.wait(limits().stop_poll_seconds)
            with self._changed:
                watched = dict(self._watched)
            self._outliving("seeing stop requests", self._look, watched)
            self._outliving("telling progress", self._tell, watched)

    def _outliving(self, doing: str, work: Callable[[_Attempts], None], watched: _Attempts) -> None:
        """Do one thing of a round; the one thread that watches must outlive anything."""
        try:
            work(watched)
        except Exception as error:  # noqa: BLE001 - as said
            logger.warning("watching_failed", extra={"doing": doing, "error": type(error).__name__})
            connections[self._using].close()

    def _wait_for_work(self) -> None:
        with self._changed:
            if not self._watched and not self._over:
                connections[self._using].close()  # an idle watcher keeps no session
                self._changed.wait_for(lambda: self._watched)

    def _look(self, watched: _Attempts) -> None:
        close_old_connections()
        asked = ExportJob.objects.using(self._using).filter(
            attempt_id__in=list(watched), id__in=[each.job_id for each in watched.values()]
        )
        for attempt_id in asked.exclude(stop_request_id=None).values_list("attempt_id", flat=True):
            self.forget(attempt_id)
            watched[attempt_id].stop()

    def _tell(self, watched: _Attempts) -> None:
        """Remove what is over, and write down what has moved since the last time.

        Removing is tried once: what stays is the scavenger's, and an idle process asks the database nothing.
        """
        with self._changed:
            over, self._over = self._over, set()
        if over:
            progress.forget(over, self._using)
        if time.monotonic() < self._tell_at:
            return
        self._tell_at = time.monotonic() + TELL_SECONDS
        latest = ((each.job_id, attempt_id, each.told, each.tally.latest) for attempt_id, each in watched.items())
        counts = {(job_id, attempt_id): now for job_id, attempt_id, told, now in latest if now and now != told}
        if counts:
            progress.note(counts, self._using)
            self._told(watched, counts)

    def _told(self, watched: _Attempts, counts: Mapping[tuple[UUID, UUID], progress.Count]) -> None:
        """Remember what was written; of an attempt that was forgotten meanwhile it has to go again."""
        with self._changed:
            for (_, attempt_id), count in counts.items():
                watched[attempt_id].told = count
                if attempt_id not in self._watched:
                    self._over.add(attempt_id)
