"""How an attempt is told to stop: one signal, set once, by whoever notices first.

The keeper sets it when a renewal changes no row, the watcher when a stop request is recorded, the drain when
its bound is reached. It is for speed only: cutoff 2 refuses a stopped or lost attempt by itself (I3, I4).
"""

from __future__ import annotations

import logging
import threading
from enum import StrEnum, unique
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)


@unique
class StopWhy(StrEnum):
    """Why an attempt has to stop before cutoff 2."""

    STOP_REQUESTED = "stop_requested"
    LEASE_LOST = "lease_lost"
    DRAINING = "draining"


class StopSignal:
    """Set at most once, from any thread; the first reason stays."""

    def __init__(self) -> None:
        self._lock: Final = threading.Lock()
        self._set: Final = threading.Event()
        self._why: StopWhy | None = None
        self._callbacks: list[Callable[[], object]] = []

    @property
    def why(self) -> StopWhy | None:
        """The first reason given, or None while nobody wants a stop."""
        return self._why

    @property
    def is_set(self) -> bool:
        """Whether the attempt has to stop."""
        return self._set.is_set()

    def set(self, why: StopWhy) -> None:
        """Ask for the stop and run what was registered, in this thread; later reasons change nothing."""
        with self._lock:
            if self._why is not None:
                return
            self._why = why
            self._set.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            _run(callback)

    def wait(self, timeout_seconds: float) -> bool:
        """Wait for the signal, at most so long; return whether it is set."""
        return self._set.wait(timeout_seconds)

    def on_set(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Run `callback` once when the signal is set, or now if it is; return what takes it back.

        It runs in the setter's thread, on which other attempts' leases may depend: it must return at once.
        Taking it back does not wait for one that is already running.
        """
        with self._lock:
            if self._why is None:
                self._callbacks.append(callback)
                return lambda: self._forget(callback)
        _run(callback)
        return lambda: None

    def _forget(self, callback: Callable[[], object]) -> None:
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)


def _run(callback: Callable[[], object]) -> None:
    """Run one callback; its failure must not keep the others, or the setter's thread, from going on."""
    try:
        callback()
    except Exception:
        logger.exception("stop_callback_failed")
