"""When a process, a queue or beat was last known to work: one row each, stamped by the database's clock.

A process upserts its own row from a daemon thread with a connection of its own, so that a busy process still
beats and one that hangs as a whole does not. `is_well` lets the thread ask whether its process still gets on.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import close_old_connections, connections, transaction

from exports.models import ProcessHeartbeat
from exports.models.base import ClockTimestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

logger = logging.getLogger(__name__)

EVERY_SECONDS = 5.0
"""Often enough to be missed within a quarter of a minute; a write this small costs nothing."""
STATEMENT_MS = 2_000
"""A heartbeat that cannot be written within this is one that is missed."""
KEPT = timedelta(hours=1)
"""How long the row of a process that is gone stays, for whoever looks for it after an incident."""
RECENT_SECONDS = 15.0
"""A loop that has not come round for so long has stopped getting on; its longest pause is ten seconds."""


class Progress:
    """When a loop last came round; a process whose loop hangs is alive and of no use."""

    def __init__(self) -> None:
        self._at = time.monotonic()
        self._then: Callable[[], None] = lambda: None

    def then(self, work: Callable[[], None]) -> None:
        """Do this too, in the loop's own thread, whenever it has come round."""
        self._then = work

    def made(self) -> None:
        """Say that the loop came round."""
        self._at = time.monotonic()
        self._then()

    def is_recent(self) -> bool:
        """Whether it came round lately."""
        return time.monotonic() - self._at < RECENT_SECONDS


def stamp(names: Iterable[str], using: str = "default") -> None:
    """Record that these were seen to work now; database errors pass through.

    Sorted, so that two processes that stamp the same names never wait for each other in a circle.
    """
    role = settings.DATABASES[using]["USER"]
    rows = [ProcessHeartbeat(process_id=name, role=role) for name in sorted(set(names))]
    ProcessHeartbeat.objects.using(using).bulk_create(
        rows, update_conflicts=True, unique_fields=["process_id"], update_fields=["seen_at"]
    )


def forget_gone(using: str = "default") -> int:
    """Remove rows that nobody has stamped for an hour; return how many. Database errors pass through."""
    gone = ProcessHeartbeat.objects.using(using).filter(seen_at__lt=ClockTimestamp() - KEPT)
    removed, _ = gone.delete()
    return removed


class Heartbeat:
    """One process's heart. `also` names what the process vouches for beside itself at this moment."""

    def __init__(
        self,
        kind: str,
        *,
        is_well: Callable[[], bool] = lambda: True,
        also: Callable[[], Iterable[str]] = tuple,
        using: str = "default",
    ) -> None:
        # A pid is reused after a restart on the same host, so a few random digits tell two lives of it apart.
        self.process_id = f"{kind}:{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(3)}"
        self._is_well = is_well
        self._also = also
        self._using = using
        self._stopped = threading.Event()
        self._missed = 0
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self) -> Heartbeat:
        """Beat until the process ends."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Beat no more; returns when the thread has closed its connection."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while True:
                self._beat()
                if self._stopped.wait(EVERY_SECONDS):
                    return
        finally:
            connections[self._using].close()

    def _beat(self) -> None:
        try:
            if self._is_well():
                self._stamp({self.process_id, *self._also()})
                self._missed = 0
        except Exception as error:  # noqa: BLE001 - a process must not end, nor fill its log, for want of a heartbeat
            connections[self._using].close()
            self._missed += 1
            if self._missed == 1:
                logger.warning("heartbeat_missed", extra={"error": type(error).__name__})

    def _stamp(self, seen: set[str]) -> None:
        close_old_connections()
        with transaction.atomic(using=self._using), connections[self._using].cursor() as cursor:
            # Of this transaction alone: behind a pooler that lends sessions it would be somebody else's next.
            cursor.execute(f"SET LOCAL statement_timeout = {STATEMENT_MS}")
            stamp(seen, self._using)
