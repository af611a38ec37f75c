"""What a process does by itself from time to time, because nobody else can do it in its place.

Beat's ticks reach one worker among many. What every host or every process of a kind has to do for itself, like
cleaning its own disk, is done by a thread of that process.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from django.db import connections

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)


class Ticker:
    """Does `work` at once and then every so many seconds, in a daemon thread whose connection is its own."""

    def __init__(self, name: str, work: Callable[[], object], every_seconds: float) -> None:
        self._name = name
        self._work = work
        self._every_seconds = every_seconds
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> Ticker:
        """Begin, and go on until the process ends."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Do no more; returns when the work in hand is done."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            self._tick()
            if self._stopped.wait(self._every_seconds):
                return

    def _tick(self) -> None:
        try:
            self._work()
        except Exception as error:  # noqa: BLE001 - the next tick tries again; a process must not end for want of one
            logger.warning(
                "tick_failed", extra={"work": self._name, "error": type(error).__name__, "words": str(error)}
            )
        finally:
            connections.close_all()  # of this thread; the next tick is minutes away
