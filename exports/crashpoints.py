"""Named points at which a test can end the world; without effect unless one is armed.

`reach` stands before and after every commit and every external step. Armed by a test in its own process
(`arm`), or for a worker process by EXPORT_CRASH_POINTS="name=kill,name=raise:2" (the second time it is reached).
"""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING

from exports.errors import ExportError

if TYPE_CHECKING:
    from collections.abc import Callable

_armed: dict[str, Callable[[], None]] = {}
_lock = threading.Lock()


class Crashed(ExportError):  # noqa: N818 - what happened, not an error class of the product
    """A crash point that a test armed was reached."""


def reach(name: str) -> None:
    """Do nothing, unless a test armed this point."""
    if _armed and (action := _armed.get(name)) is not None:
        action()


def arm(name: str, action: Callable[[], None]) -> None:
    """Run `action` whenever the point is reached, until `disarm`."""
    _armed[name] = action


def disarm(name: str | None = None) -> None:
    """Take the action off one point, or off all of them."""
    if name is None:
        _armed.clear()
    else:
        _armed.pop(name, None)


def arm_from(specification: str) -> None:
    """Arm points from "name=action[:nth]" items separated by commas; actions are kill, stop and raise."""
    for item in filter(None, specification.split(",")):
        name, _, action = item.partition("=")
        verb, _, nth = action.partition(":")
        arm(name, _on_nth(int(nth or 1), ACTIONS[verb]))


def _on_nth(nth: int, action: Callable[[], None]) -> Callable[[], None]:
    """Let the point pass until it is reached for the nth time, once."""
    reached = 0

    def count() -> None:
        nonlocal reached
        with _lock:
            reached += 1
            due = reached == nth
        if due:
            action()

    return count


def _raise() -> None:
    raise Crashed


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _stop() -> None:
    """Stop the process, this thread first: sent to the process, another would take it while this one goes on."""
    signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)


ACTIONS: dict[str, Callable[[], None]] = {
    "raise": _raise,
    "kill": _kill,
    "stop": _stop,
}
"""What an armed point can do: raise (finally still runs), SIGKILL (it does not), SIGSTOP (until SIGCONT)."""
