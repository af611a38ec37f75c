"""System calls with a bound: run on a thread that may be left behind when a mounted share hangs.

The thread is a daemon and not one of an executor's, because a call that never returns must not keep the
process from ending.
"""

import queue
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

T = TypeVar("T")

_Task = tuple[Callable[[], Any], "queue.SimpleQueue[tuple[Any, BaseException | None]]"]


class BoundedCalls:
    """One thread that makes one caller's calls in order. After a TimeoutError it must not be used again."""

    def __init__(self, name: str) -> None:
        self._tasks: Final[queue.SimpleQueue[_Task | None]] = queue.SimpleQueue()
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def call(self, act: Callable[[], T], seconds: float) -> T:
        """Return what `act` returns or raise what it raises; TimeoutError when it takes longer."""
        answers: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self._tasks.put((act, answers))
        try:
            value, error = answers.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError(f"no answer within {seconds:g} s") from None
        if error is not None:
            raise error
        result: T = value
        return result

    def end(self, last: Callable[[], object]) -> None:
        """Let the thread do one last thing and end, whenever what it is doing lets it; nobody waits for that."""
        self._tasks.put((last, queue.SimpleQueue()))
        self._tasks.put(None)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            act, answers = task
            try:
                answers.put((act(), None))
            except BaseException as error:  # noqa: BLE001 - it belongs to the caller, whatever it is
                answers.put((None, error))
