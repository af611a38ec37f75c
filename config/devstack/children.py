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
from typing import TYPE_CHECKING

from config.devstack import identity
from config.devstack.child import Child, Ending, Output, Program, stop_together
from config.devstack.errors import DevstackError
from config.devstack.passwords import write_private

if TYPE_CHECKING:
    from pathlib import Path

_GATE = ("/bin/sh", "-c", 'read -r word && exec "$@" </dev/null', "gate")
_LOG_KEPT_BYTES = 10_000_000  # a log longer than this is put aside once, so that logs have a bound


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
        """End every child: the processes, then the servers."""
        stop_together(list(self._running.values()))
        for name in list(self._running):
            self.stop(name)

    def stop_leftovers(self) -> None:
        """End what a killed run left behind, and nothing that only has the number of one."""
        notes = list(self._directory.glob("*.json"))
        stop_together([_child_of(note) for note in notes])
        for note in notes:
            note.unlink()

    def ended(self) -> list[str]:
        """Return the names of children that ended though nobody asked them to."""
        return [name for name, child in self._running.items() if not child.running()]

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
            pass_fds=program.descriptors,
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
    return json.dumps({"pid": pid, "started": start, "ending": [ending.signals, ending.grace_seconds, ending.tier]})


def _child_of(note: Path) -> Child:
    match json.loads(note.read_text()):
        case {"pid": int(pid), "started": str(started), "ending": [list(numbers), grace_seconds, int(tier)]}:
            signals = tuple(signal.Signals(number) for number in numbers)
            return Child(pid, started, Ending(signals, float(grace_seconds), tier))
        case _:
            raise DevstackError(f"{note} is damaged; stop what it names and delete it.")
