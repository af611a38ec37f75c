"""One process of the stack: what it is, whether it runs, how it ends."""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from config.devstack import identity, waiting

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from config.devstack.accounts import Account

SERVER, PROCESS = 0, 1
"""Tiers: a process of the project leans on the servers, so it is started after them and stopped before."""

_KILLED_SECONDS = 10  # what SIGKILL takes at most, a full disk's writes included


@dataclass(frozen=True)
class Ending:
    """How a process is asked to end: signals in order, each given `grace_seconds` before the next."""

    signals: tuple[signal.Signals, ...] = (signal.SIGTERM,)
    grace_seconds: float = 10
    tier: int = SERVER


@dataclass(frozen=True)
class Program:
    """What to run: a name of its own in the directory, a command, and how it ends.

    `descriptors` are open files of ours that it inherits under the same numbers.
    """

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: Path | str = "/"
    account: Account | None = None
    descriptors: tuple[int, ...] = ()
    ending: Ending = field(default_factory=Ending)


@dataclass(frozen=True)
class Output:
    """A process of this run, and where in its log its own words begin."""

    process: subprocess.Popen[bytes]
    log: Path
    offset: int

    def text(self) -> str:
        """Return what was written since."""
        with self.log.open("rb") as stream:
            stream.seek(self.offset)
            return stream.read().decode(errors="replace")


class Child:
    """A process that is ours: started by us, or by a run of us that was killed."""

    def __init__(self, pid: int, start: str, ending: Ending, output: Output | None = None) -> None:
        self.pid = pid
        self.ending = ending
        self._start = start
        self._output = output
        self._process = output.process if output else None
        self._asked = False

    def running(self) -> bool:
        """Whether it still runs, and is not another process with its number."""
        if self._process is not None:
            return self._process.poll() is None
        return identity.started(self.pid) == self._start

    @property
    def exit_code(self) -> int | None:
        """How it ended, negative for a signal; None while it runs or if it is a predecessor's child."""
        return self._process.poll() if self._process else None

    def said(self) -> str:
        """Return what it has written so far: nothing of earlier runs, though they share the log."""
        return self._output.text() if self._output else ""

    def ask_to_end(self) -> None:
        """Send its first signal, once: to many processes a second one means `at once`."""
        if not self._asked:
            self._asked = True
            self._send(self.ending.signals[0])

    def stop(self) -> None:
        """End it: ask, wait, ask harder, kill. Afterwards neither it nor its process group is left."""
        was_running = self.running()
        self._close_gate()
        self.ask_to_end()
        for number in (*self.ending.signals[1:], signal.SIGKILL):
            if self._gone_within(self.ending.grace_seconds):
                break
            self._send(number)
        self._gone_within(_KILLED_SECONDS)
        if was_running:
            self._kill_group()

    def _close_gate(self) -> None:
        """Let go of its input, which is still open only if its start failed half-way."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    def _gone_within(self, seconds: float) -> bool:
        return waiting.until(lambda: not self.running(), seconds=seconds)

    def _send(self, number: signal.Signals) -> None:
        if self.running():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _kill_group(self) -> None:
        """End what it started and left behind; the group carries the number of its first process."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)


def stop_together(children: Sequence[Child]) -> None:
    """Stop `children`, the processes before the servers they lean on, those of a tier at the same time."""
    for tier in (PROCESS, SERVER):
        members = [child for child in children if child.ending.tier == tier]
        for child in members:
            child.ask_to_end()
        for child in members:
            child.stop()
