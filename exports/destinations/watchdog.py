"""One thread that ends what takes too long, for every wait that cannot be given a bound of its own.

Some waits of an SSH connection have no timeout at all, and a frozen peer can hold any of them for ever. Each
is watched: when its time is up, its connection is broken from outside, which wakes whoever waits on it.
"""

import heapq
import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final


def _nothing() -> None:
    """Do nothing, in place of an action that is not needed any more."""


@dataclass(order=True)
class Watch:
    """One thing being watched. `fired` says afterwards that it was ended from outside."""

    ends_at: float
    number: int
    action: Callable[[], None] = field(compare=False)
    fired: bool = field(default=False, compare=False)
    canceled: bool = field(default=False, compare=False)

    def cancel(self) -> None:
        """Let it be; whoever waited is done."""
        self.canceled = True
        # The watch itself stays in the queue until its time: it must not keep a closed connection alive so long.
        self.action = _nothing

    def left(self) -> float:
        """Seconds until the action runs, never negative."""
        return max(0.0, self.ends_at - time.monotonic())


class Watchdog:
    """Runs actions at monotonic times, on a daemon thread that starts with the first watch."""

    def __init__(self) -> None:
        self._due: list[Watch] = []
        self._numbers = itertools.count()
        self._changed: Final = threading.Condition()
        self._thread: threading.Thread | None = None

    def watch(self, seconds: float, action: Callable[[], None]) -> Watch:
        """Run `action` in so many seconds unless the watch is canceled first."""
        with self._changed:
            watch = Watch(time.monotonic() + seconds, next(self._numbers), action)
            heapq.heappush(self._due, watch)
            self._start()
            self._changed.notify()
        return watch

    def _start(self) -> None:
        # A thread does not survive a fork, so its being alive is asked for, not remembered.
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            with self._changed:
                watch = self._next()
            if watch is not None and not watch.canceled:
                watch.fired = True
                # On a thread of its own: breaking one connection must not delay the others' bounds.
                threading.Thread(target=watch.action, daemon=True).start()

    def _next(self) -> Watch | None:
        """Return the watch whose time has come, or wait until something may have changed."""
        while self._due and self._due[0].canceled:
            heapq.heappop(self._due)
        left = self._due[0].left() if self._due else None
        if left == 0.0:
            return heapq.heappop(self._due)
        self._changed.wait(left)
        return None


WATCHDOG: Final = Watchdog()
"""The process's own."""
