"""A deploy must not burn attempts: what SIGTERM means to a worker process (DESIGN, correction 6).

Claims stop at once; builds and uploads go on for EXPORT_DRAIN_SECONDS; at that bound every attempt still
building is stopped and given back, and an upload that has not sent its publish request ends with that evidence.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from exports.conf import limits

if TYPE_CHECKING:
    from collections.abc import Callable


class Drain:
    """One process's way out. Beginning it twice changes nothing."""

    def __init__(self) -> None:
        self._began_at: float | None = None
        self._begun = threading.Event()
        self._at_the_bound: dict[int, Callable[[], None]] = {}
        self._lock = threading.Lock()

    @property
    def has_begun(self) -> bool:
        """Whether this process may no longer claim."""
        return self._began_at is not None

    @property
    def is_over(self) -> bool:
        """Whether the bound has passed, so that nothing new may be sent to a partner."""
        return self._began_at is not None and time.monotonic() >= self.ends_at

    @property
    def ends_at(self) -> float:
        """Monotonic seconds until which work may go on; far from now while the process is not shutting down."""
        start = time.monotonic() if self._began_at is None else self._began_at
        return start + limits().drain_seconds

    def begin(self) -> None:
        """Stop claiming and set the bound. Called from a signal handler, so the thread it interrupted may hold a lock.

        Setting an event takes the lock that waiting for it takes: a thread of its own does that.
        """
        if self._began_at is None:
            self._began_at = time.monotonic()
            threading.Thread(target=self._go, name="drain", daemon=True).start()

    def _go(self) -> None:
        self._begun.set()
        time.sleep(limits().drain_seconds)
        self._reach_the_bound()

    def wait_begun(self, seconds: float) -> bool:
        """Wait up to so many seconds for the shutdown to begin; whether it has."""
        return self._begun.wait(seconds)

    def at_the_bound(self, action: Callable[[], None]) -> Callable[[], None]:
        """Register what an attempt does when the bound is reached; return how to take it back."""
        key = id(action)
        with self._lock:
            self._at_the_bound[key] = action
        if self.is_over:
            action()
        return lambda: self._forget(key)

    def _forget(self, key: int) -> None:
        with self._lock:
            self._at_the_bound.pop(key, None)

    def _reach_the_bound(self) -> None:
        with self._lock:
            actions = list(self._at_the_bound.values())
        for action in actions:
            action()
