"""The one way to wait here: short looks, a bound, and an ear for a request to stop."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

from config.devstack.errors import Interrupted

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

LOOK_EVERY_SECONDS = 0.02
"""How often a wait looks: far below what a person notices, far above what it costs."""


def never() -> None:
    """Answer a wait that nothing can interrupt."""


def until(condition: Callable[[], bool], *, seconds: float, check: Callable[[], None] = never) -> bool:
    """Look for `condition` for at most `seconds`; `check` may raise to end the wait. Return what was seen."""
    deadline = time.monotonic() + seconds
    while not condition():
        check()
        if time.monotonic() >= deadline:
            return False
        time.sleep(LOOK_EVERY_SECONDS)
    return True


class StopSignals:
    """Turns SIGINT, SIGTERM and SIGHUP into a request that waits look at.

    An exception raised by the handler itself could fall between the start of a child and the note of it;
    a request is seen only where nothing is half done.
    """

    def __init__(self) -> None:
        self.requested = False

    def install(self) -> None:
        """Take the three signals over, in the main thread."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._request)

    def check(self) -> None:
        """Raise Interrupted if the end was asked for."""
        if self.requested:
            raise Interrupted

    def _request(self, _number: int, _frame: FrameType | None) -> None:
        self.requested = True
