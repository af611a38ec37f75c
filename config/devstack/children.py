"""Every process the stack starts, noted in its directory before it does anything.

A child first waits in a shell for a word from its parent, which comes only after the child's number and
start time are on disk. If the parent dies first, the child reads the end of its input and ends. So however
this ends, kill -9 included, nothing runs that the next start does not know and stop.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from config.devstack import identity, waiting
from config.devstack.errors import DevstackError
from config.devstack.passwords import write_private

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from config.devstack.accounts import Account

_GATE = ("/bin/sh", "-c", 'read -r word && exec "$@" </dev/null', "gate")
_LOG_KEPT_BYTES = 10_000_000  # a log longer than this is put aside once, so that logs have a bound
_KILLED_SECONDS = 10  # what SIGKILL takes at most, a full disk's writes included


@dataclass(frozen=True)
class Ending:
    """How a process is asked to end: signals in order, each given `grace_seconds` before the next."""

    signals: tuple[signal.Signals, ...] = (signal.SIGTERM,)
    grace_seconds: float = 10


@dataclass(frozen=True)
class Program:
    """What to run: a name of its own in the directory, a command, and how it ends."""

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: Path | str = "/"
    account: Account | None = None
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
        self._start = start
        self._ending = ending
        self._output = output
        self._process = output.process if output else None

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

    def stop(self) -> None:
        """End it: ask, wait, ask harder, kill. Afterwards neither it nor its process group is left."""
        for number in self._ending.signals:
            self._send(number)
            if waiting.until(lambda: not self.running(), seconds=self._ending.grace_seconds):
                break
        self._send(signal.SIGKILL)
        waiting.until(lambda: not self.running(), seconds=_KILLED_SECONDS)
        self._kill_group()

    def _send(self, number: signal.Signals) -> None:
        if self.running():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _kill_group(self) -> None:
        """End what it started and left behind; the group carries the number of its first process."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)


class Children:
    """The processes of one directory. Use under the directory's lock."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._running: dict[str, Child] = {}

    def start(self, program: Program) -> Child:
        """Start `program` in a session of its own, noted before its first instruction."""
        output = _launch(program)
        start = identity.started(output.process.pid)
        if start is None:
            raise DevstackError(f"{program.command[0]} could not be started; see {program.log}.")
        child = Child(output.process.pid, start, program.ending, output)
        self._running[program.name] = child
        write_private(self._note(program.name), _note_of(child.pid, start, program.ending))
        _open_gate(output.process)
        return child

    def stop(self, name: str) -> None:
        """End one child and forget it; nothing happens if it is not there."""
        child = self._running.pop(name, None)
        if child is not None:
            child.stop()
            self._note(name).unlink(missing_ok=True)

    def stop_all(self) -> None:
        """End every child, the last one started first."""
        for name in reversed(list(self._running)):
            self.stop(name)

    def stop_leftovers(self) -> list[str]:
        """End what a killed run left behind; return the names of those that still ran."""
        found = [name for name, child in self._leftovers() if _stop_if_running(child)]
        for note in self._directory.glob("*.json"):
            note.unlink()
        return found

    def failed(self) -> list[str]:
        """Return the names of children that ended though nobody asked them to."""
        return [name for name, child in self._running.items() if not child.running()]

    def _leftovers(self) -> list[tuple[str, Child]]:
        notes = [(note.stem, json.loads(note.read_text())) for note in self._directory.glob("*.json")]
        return [(name, _child_of(note)) for name, note in notes]

    def _note(self, name: str) -> Path:
        return self._directory / f"{name}.json"


def _launch(program: Program) -> Output:
    _put_aside(program.log)
    with program.log.open("ab") as log:
        process = subprocess.Popen(
            [*_GATE, *program.command],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=program.directory,
            env={"PATH": os.defpath, "LC_ALL": "C"} | dict(program.environment),
            start_new_session=True,
            **(program.account.popen_arguments() if program.account else {}),
        )
        return Output(process, program.log, log.tell())


def _put_aside(log: Path) -> None:
    if log.exists() and log.stat().st_size > _LOG_KEPT_BYTES:
        log.replace(log.with_suffix(".old"))


def _open_gate(process: subprocess.Popen[bytes]) -> None:
    """Let the child go on; one that died at the gate shows by its exit code."""
    assert process.stdin is not None  # noqa: S101 - Popen was given a pipe; only a bug can lose it
    with contextlib.suppress(BrokenPipeError), process.stdin as gate:
        gate.write(b"go\n")


def _note_of(pid: int, start: str, ending: Ending) -> str:
    signals = [int(number) for number in ending.signals]
    return json.dumps(
        {"pid": pid, "started": start, "signals": signals, "grace_seconds": ending.grace_seconds}
    )


def _child_of(note: dict[str, object]) -> Child:
    match note:
        case {"pid": int(pid), "started": str(start), "signals": list(numbers), "grace_seconds": grace}:
            signals = tuple(signal.Signals(number) for number in numbers)
            return Child(pid, start, Ending(signals, float(str(grace))))
        case _:
            raise DevstackError(f"A note of a process is damaged: {note}; delete the directory's processes/.")


def _stop_if_running(child: Child) -> bool:
    if not child.running():
        return False
    child.stop()
    return True
