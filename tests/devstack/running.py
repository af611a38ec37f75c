"""What the tests of the servers do over and over: start a run, look at it, end it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psutil  # type: ignore[import-untyped] # no stubs among the requirements; used in this file alone

from config.devstack.accounts import can_run
from config.devstack.partner import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from config.devstack.accounts import Account

READY_SECONDS = 60  # a start takes one or two seconds; the test machine may be very busy
ENDED_SECONDS = 60  # a stop gives each server up to 20 s


@dataclass
class Run:
    """A process that serves a directory, or tries to."""

    process: subprocess.Popen[str]

    def lines_until(self, last: str) -> list[str]:
        """Return the lines it says up to the line `last`."""
        assert self.process.stdout is not None
        output, said = self.process.stdout.fileno(), b""
        while f"{last}\n".encode() not in said:
            readable, _, _ = select.select([output], [], [], READY_SECONDS)
            assert readable, f"it did not say {last!r} in time"
            chunk = os.read(output, 65_536)
            assert chunk, self.wait()
            said += chunk
        return said.decode().splitlines()

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal; return the exit code and what it said about trouble."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> tuple[int, str]:
        """Return the exit code and what it said about trouble."""
        _, trouble = self.process.communicate(timeout=ENDED_SECONDS)
        return self.process.returncode, trouble


def start(directory: Path, account: Account | None = None) -> Run:
    """Start a run, as another account if asked."""
    process = subprocess.Popen(
        [*_python_as(account), "-m", "tests.devstack.serve", str(directory)],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    return Run(process)


@contextlib.contextmanager
def running(directory: Path, account: Account | None = None) -> Iterator[Run]:
    """Serve `directory` for the time of the block."""
    run = start(directory, account)
    try:
        run.lines_until("ready")
        yield run
    finally:
        if run.process.poll() is None:
            run.end()


def processes_of(directory: Path) -> list[str]:
    """Return the commands of all processes that work in `directory`, its own database's place included."""
    places = [str(directory), *_place_outside(directory)]
    found: list[str] = []
    for process in psutil.process_iter(["cmdline", "cwd", "name"]):
        facts: dict[str, Any] = process.info
        words = [*(facts["cmdline"] or []), facts["cwd"] or ""]
        if any(place in word for place in places for word in words) and process.pid != os.getpid():
            found.append(f"{facts['name']}: {words}")
    return found


def login(directory: Path, role: str = "postgres") -> str:
    """Return the address of the database of a run that another process serves."""
    secrets = json.loads((directory / "passwords.json").read_text())
    port = json.loads((directory / "ports.json").read_text())["postgres"]
    return f"postgresql://{role}:{secrets[role]}@127.0.0.1:{port}/postgres"


def listening_ports() -> set[int]:
    """Return every TCP port of this machine that is listened on."""
    return {each.laddr.port for each in psutil.net_connections("tcp4") if each.status == psutil.CONN_LISTEN}


def descendants(pid: int) -> list[int]:
    """Return the processes that `pid` started, and those that they started."""
    return [process.pid for process in psutil.Process(pid).children(recursive=True)]


def owner(pid: int) -> tuple[int, int]:
    """Return the account and the group of a process."""
    process = psutil.Process(pid)
    return process.uids().real, process.gids().real


def database_server(place: Path) -> int:
    """Return the process of the database server whose files are in `place`."""
    return int((place / "data" / "postmaster.pid").read_text().split()[0])


def _python_as(account: Account | None) -> list[str]:
    """Return how to run this Python as `account`.

    Root's Python may be below a directory that is closed to others. The right to read everything, and
    nothing more than that, then goes with the other account; what it may write and signal stays its own.
    """
    if account is None:
        return [sys.executable]
    if can_run([sys.executable, "-c", ""], account):
        return ["setpriv", *_identity(account), sys.executable]
    read_all = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    return ["setpriv", *_identity(account), *read_all, sys.executable]


def _identity(account: Account) -> list[str]:
    return [f"--reuid={account.uid}", f"--regid={account.gid}", "--clear-groups"]


def _place_outside(directory: Path) -> list[str]:
    record = directory / "postgres.place"
    return [record.read_text().strip()] if record.exists() else []
